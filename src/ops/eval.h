// Values and context of the reference evaluation. The evaluators are the specification: the obvious loop, no tricks.
//
// HostTensor<F> computes floats in F. With F = float an f32 graph is evaluated in f32; with F = double the same graph
// is evaluated in f64 throughout (f32 values are not rounded), which tells rounding noise from wrong maths. bf16 and
// f16 values are rounded to their type after every op in both. f64 graph values need F = double. Integers are held as
// int64_t and wrapped to their type after every op; i1 is 0 or 1.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/shape.h"
#include "ir/graph.h"

namespace headrace {

template <class F>
class HostTensor {
 public:
  HostTensor() = default;
  // Zero-filled, owned. Errors are the caller's: sizes must be non-negative and their product in range.
  HostTensor(DType dtype, std::vector<int64_t> sizes);
  // A view of floats that `owner` keeps alive (a mapped archive). Precondition: is_float(dtype).
  HostTensor(DType dtype, std::vector<int64_t> sizes, std::shared_ptr<const F> view);

  [[nodiscard]] DType dtype() const { return dtype_; }
  [[nodiscard]] const std::vector<int64_t>& sizes() const { return sizes_; }
  [[nodiscard]] int64_t rank() const { return static_cast<int64_t>(sizes_.size()); }
  [[nodiscard]] int64_t elements() const { return elements_; }
  // Precondition: is_float(dtype()) for floats, the opposite for ints.
  [[nodiscard]] std::span<const F> floats() const;
  [[nodiscard]] std::span<const int64_t> ints() const;
  // Writable views. Precondition: owned and not shared (a fresh tensor).
  [[nodiscard]] std::span<F> mutable_floats();
  [[nodiscard]] std::span<int64_t> mutable_ints();
  // The same elements under other sizes. Shares storage.
  [[nodiscard]] HostTensor reshaped(std::vector<int64_t> sizes) const;
  // Rounds floats to dtype() / wraps ints to its width, in place. Precondition: owned and not shared.
  void settle();

 private:
  DType dtype_{};
  std::vector<int64_t> sizes_;
  int64_t elements_ = 0;
  bool owned_ = false;
  std::shared_ptr<const F> floats_;
  std::shared_ptr<const int64_t> ints_;
};

// Rounds a value to a float dtype as HostTensor::settle does; wraps an integer likewise.
template <class F>
[[nodiscard]] F round_to(DType dtype, F value);
[[nodiscard]] int64_t wrap_to(DType dtype, int64_t value);

// C[b, m, n] = sum over k of A[b, m, k] * B[b, n, k] with arbitrary element strides, accumulated in F. Null in an
// EvalContext means the obvious loop; src/interp passes one backed by a GEMM library.
template <class F>
struct Contraction {
  int64_t batch{}, m{}, n{}, k{};
  const F* a{};
  int64_t a_batch_stride{}, a_row_stride{}, a_col_stride{};  // of [batch, m, k]
  const F* b{};
  int64_t b_batch_stride{}, b_row_stride{}, b_col_stride{};  // of [batch, n, k]
  F* c{};                                                    // dense [batch, m, n]
};
template <class F>
using ContractFn = void (*)(const Contraction<F>&);

template <class F>
class EvalContext {
 public:
  const Node& node;
  std::span<const HostTensor<F>> operands;
  std::span<const Type> result_types;  // symbols replaced: static
  const SymbolValues& symbols;
  ContractFn<F> contract{};  // null: the obvious loop
  // Runs a region or a called function.
  std::function<Result<std::vector<HostTensor<F>>>(const Graph&, std::vector<HostTensor<F>>)> run{};
  std::function<Result<std::vector<HostTensor<F>>>(const std::string&, std::vector<HostTensor<F>>)> call{};
  // The value of a parameter by name.
  std::function<Result<HostTensor<F>>(const std::string&)> parameter{};
};

// Element i of a literal in a HostTensor.
template <class F>
[[nodiscard]] HostTensor<F> to_tensor(const Literal& literal);

}  // namespace headrace
