#include "ops/eval.h"

#include "base/checked.h"
#include "base/narrow.h"

namespace headrace {

namespace {

int64_t count_of(const std::vector<int64_t>& sizes) {
  for (const int64_t size : sizes) HR_CHECK(size >= 0);
  const auto count = checked_product(sizes);
  HR_CHECK(count.has_value());
  return *count;
}

template <class T>
std::shared_ptr<const T> allocate(int64_t count) {
  std::shared_ptr<T[]> owner(new T[static_cast<size_t>(count)]());
  return {owner, owner.get()};
}

}  // namespace

template <class F>
HostTensor<F>::HostTensor(DType dtype, std::vector<int64_t> sizes)
    : dtype_(dtype), sizes_(std::move(sizes)), elements_(count_of(sizes_)), owned_(true) {
  if (is_float(dtype)) {
    floats_ = allocate<F>(elements_);
  } else {
    ints_ = allocate<int64_t>(elements_);
  }
}

template <class F>
HostTensor<F>::HostTensor(DType dtype, std::vector<int64_t> sizes, std::shared_ptr<const F> view)
    : dtype_(dtype), sizes_(std::move(sizes)), elements_(count_of(sizes_)), floats_(std::move(view)) {
  HR_CHECK(is_float(dtype));
}

template <class F>
std::span<const F> HostTensor<F>::floats() const {
  HR_CHECK(is_float(dtype_));
  return {floats_.get(), static_cast<size_t>(elements_)};
}

template <class F>
std::span<const int64_t> HostTensor<F>::ints() const {
  HR_CHECK(!is_float(dtype_));
  return {ints_.get(), static_cast<size_t>(elements_)};
}

template <class F>
std::span<F> HostTensor<F>::mutable_floats() {
  HR_CHECK(is_float(dtype_) && owned_ && floats_.use_count() == 1);
  return {const_cast<F*>(floats_.get()), static_cast<size_t>(elements_)};
}

template <class F>
std::span<int64_t> HostTensor<F>::mutable_ints() {
  HR_CHECK(!is_float(dtype_) && owned_ && ints_.use_count() == 1);
  return {const_cast<int64_t*>(ints_.get()), static_cast<size_t>(elements_)};
}

template <class F>
// NOLINTNEXTLINE(performance-unnecessary-value-param): it is moved from
HostTensor<F> HostTensor<F>::reshaped(std::vector<int64_t> sizes) const {
  HR_CHECK(count_of(sizes) == elements_);
  HostTensor out = *this;
  out.sizes_ = std::move(sizes);
  return out;
}

template <class F>
void HostTensor<F>::settle() {
  if (!is_float(dtype_)) {
    if (info(dtype_).bits == 64) return;
    for (int64_t& value : mutable_ints()) value = wrap_to(dtype_, value);
  } else if (info(dtype_).bits == 16) {
    for (F& value : mutable_floats()) value = round_to(dtype_, value);
  }
}

template <class F>
F round_to(DType dtype, F value) {
  const auto wide = static_cast<double>(value);
  if (dtype == DType::kF16) return static_cast<F>(f16_to_f32(f64_to_f16(wide)));
  if (dtype == DType::kBF16) return static_cast<F>(bf16_to_f32(f64_to_bf16(wide)));
  return value;
}

int64_t wrap_to(DType dtype, int64_t value) {
  const int unused = 64 - info(dtype).bits;
  const uint64_t shifted = static_cast<uint64_t>(value) << unused;
  if (info(dtype).kind == DTypeKind::kInt) return static_cast<int64_t>(shifted) >> unused;
  return static_cast<int64_t>(shifted >> unused);
}

template <class F>
HostTensor<F> to_tensor(const Literal& literal) {
  HostTensor<F> out(literal.dtype, literal.sizes);
  const auto count = static_cast<size_t>(out.elements());
  if (is_float(literal.dtype)) {
    const auto to = out.mutable_floats();
    for (size_t i = 0; i < count; ++i) to[i] = static_cast<F>(literal.at(i));
  } else {
    const auto to = out.mutable_ints();
    for (size_t i = 0; i < count; ++i) to[i] = literal.int_at(i);
  }
  return out;
}

template class HostTensor<float>;
template class HostTensor<double>;
template float round_to(DType, float);
template double round_to(DType, double);
template HostTensor<float> to_tensor(const Literal&);
template HostTensor<double> to_tensor(const Literal&);

}  // namespace headrace
