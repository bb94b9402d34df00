#include "interp/host_bytes.h"

#include <bit>
#include <cstring>
#include <type_traits>

#include "base/checked.h"
#include "base/half.h"
#include "base/narrow.h"
#include "base/npy.h"

namespace headrace {

namespace {

static_assert(std::endian::native == std::endian::little, "host tensors are copied from little-endian bytes");

// How one element lies in a file: the word it is stored in, and what it means.
template <class Word, class Meaning>
struct Storage {
  using WordType = Word;
  Meaning (*decode)(Word);
  Word (*encode)(Meaning);
};

template <class Word>
constexpr Storage<Word, int64_t> kInteger{[](Word word) { return static_cast<int64_t>(word); },
                                          [](int64_t value) { return static_cast<Word>(value); }};
constexpr Storage<uint8_t, int64_t> kBool{[](uint8_t word) { return static_cast<int64_t>(word != 0); },
                                          [](int64_t value) { return static_cast<uint8_t>(value != 0); }};
template <class Word>
constexpr Storage<Word, double> kFloat{[](Word word) { return static_cast<double>(word); },
                                       [](double value) { return static_cast<Word>(value); }};
constexpr Storage<uint16_t, double> kHalf{[](uint16_t word) { return static_cast<double>(f16_to_f32(word)); },
                                          [](double value) { return f64_to_f16(value); }};
constexpr Storage<uint16_t, double> kBfloat{[](uint16_t word) { return static_cast<double>(bf16_to_f32(word)); },
                                            [](double value) { return f64_to_bf16(value); }};

// Calls `act` with the storage of a dtype.
template <class Act>
void with_float_storage(DType dtype, Act&& act) {
  if (dtype == DType::kF64) act(kFloat<double>);
  if (dtype == DType::kF32) act(kFloat<float>);
  if (dtype == DType::kF16) act(kHalf);
  if (dtype == DType::kBF16) act(kBfloat);
}

template <class Act>
void with_int_storage(DType dtype, Act&& act) {
  const DTypeInfo& type = info(dtype);
  const bool is_signed = type.kind == DTypeKind::kInt;
  if (type.bits == 1) act(kBool);
  if (type.bits == 8) is_signed ? act(kInteger<int8_t>) : act(kInteger<uint8_t>);
  if (type.bits == 16) is_signed ? act(kInteger<int16_t>) : act(kInteger<uint16_t>);
  if (type.bits == 32) is_signed ? act(kInteger<int32_t>) : act(kInteger<uint32_t>);
  if (type.bits == 64) is_signed ? act(kInteger<int64_t>) : act(kInteger<uint64_t>);
}

template <class Word, class Meaning, class T>
void decode(const Storage<Word, Meaning>& storage, std::span<const std::byte> bytes, std::span<T> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    Word word;
    std::memcpy(&word, bytes.data() + i * sizeof(Word), sizeof(Word));
    out[i] = static_cast<T>(storage.decode(word));
  }
}

template <class Word, class Meaning, class T>
void encode(const Storage<Word, Meaning>& storage, std::span<const T> values, std::span<std::byte> out) {
  for (size_t i = 0; i < values.size(); ++i) {
    const Word word = storage.encode(static_cast<Meaning>(values[i]));
    std::memcpy(out.data() + i * sizeof(Word), &word, sizeof(Word));
  }
}

bool fits(DType dtype, std::span<const int64_t> sizes, std::span<const std::byte> bytes) {
  const auto count = checked_product(sizes);
  const auto wanted = count ? checked_mul(*count, storage_bytes(dtype)) : std::nullopt;
  return wanted && *wanted >= 0 && static_cast<uint64_t>(*wanted) == bytes.size();
}

template <class F>
constexpr DType kOwnDType = std::is_same_v<F, float> ? DType::kF32 : DType::kF64;

}  // namespace

template <class F>
HostTensor<F> from_bytes(DType dtype, std::vector<int64_t> sizes, std::span<const std::byte> bytes) {
  HR_CHECK(fits(dtype, sizes, bytes));
  HostTensor<F> out(dtype, std::move(sizes));
  if (dtype == kOwnDType<F>) {
    if (!bytes.empty()) std::memcpy(out.mutable_floats().data(), bytes.data(), bytes.size());
  } else if (is_float(dtype)) {
    with_float_storage(dtype, [&](const auto& storage) { decode(storage, bytes, out.mutable_floats()); });
  } else {
    with_int_storage(dtype, [&](const auto& storage) { decode(storage, bytes, out.mutable_ints()); });
  }
  return out;
}

template <class F>
HostTensor<F> view_bytes(DType dtype, std::vector<int64_t> sizes, std::span<const std::byte> bytes,
                         const std::shared_ptr<const void>& owner) {
  const bool aligned = reinterpret_cast<uintptr_t>(bytes.data()) % alignof(F) == 0;
  if (dtype != kOwnDType<F> || !aligned) return from_bytes<F>(dtype, std::move(sizes), bytes);
  HR_CHECK(fits(dtype, sizes, bytes));
  return {dtype, std::move(sizes), std::shared_ptr<const F>(owner, reinterpret_cast<const F*>(bytes.data()))};
}

template <class F>
std::vector<std::byte> to_bytes(const HostTensor<F>& tensor, DType dtype) {
  HR_CHECK(is_float(dtype) ? is_float(tensor.dtype()) : dtype == tensor.dtype());
  std::vector<std::byte> out(static_cast<size_t>(tensor.elements() * storage_bytes(dtype)));
  if (is_float(dtype)) {
    with_float_storage(dtype, [&](const auto& storage) { encode(storage, tensor.floats(), std::span(out)); });
  } else {
    with_int_storage(dtype, [&](const auto& storage) { encode(storage, tensor.ints(), std::span(out)); });
  }
  return out;
}

template <class F>
Result<HostTensor<F>> load_npy(const std::string& path) {
  HR_TRY(NpyArray array, read_npy(path));
  return from_bytes<F>(array.dtype, std::move(array.sizes), array.bytes);
}

template <class F>
Status save_npy(const std::string& path, const HostTensor<F>& tensor) {
  const DType dtype = is_float(tensor.dtype()) ? kOwnDType<F> : tensor.dtype();
  return write_npy(path, dtype, tensor.sizes(), to_bytes(tensor, dtype));
}

template HostTensor<float> from_bytes(DType, std::vector<int64_t>, std::span<const std::byte>);
template HostTensor<double> from_bytes(DType, std::vector<int64_t>, std::span<const std::byte>);
template HostTensor<float> view_bytes(DType, std::vector<int64_t>, std::span<const std::byte>,
                                      const std::shared_ptr<const void>&);
template HostTensor<double> view_bytes(DType, std::vector<int64_t>, std::span<const std::byte>,
                                       const std::shared_ptr<const void>&);
template std::vector<std::byte> to_bytes(const HostTensor<float>&, DType);
template std::vector<std::byte> to_bytes(const HostTensor<double>&, DType);
template Result<HostTensor<float>> load_npy(const std::string&);
template Result<HostTensor<double>> load_npy(const std::string&);
template Status save_npy(const std::string&, const HostTensor<float>&);
template Status save_npy(const std::string&, const HostTensor<double>&);

}  // namespace headrace
