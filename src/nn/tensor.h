// The tracing DSL: Tensor handles with operators. Model code runs once per function, on shapes only; what it does is
// recorded as a graph. Operands that do not fit throw UserError with the module path ("blk.3.attn.q: ...") and both
// shapes; trace() (nn/trace.h) turns that into a Result, so that model code composes without checks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/module.h"

namespace headrace {

class Tracer;

// A value of the graph being traced. Cheap to copy; valid while its Tracer lives.
class Tensor {
 public:
  Tensor(Tracer& tracer, ValueId id) : tracer_(&tracer), id_(id) {}
  // By value: the graph under construction moves its nodes as it grows.
  [[nodiscard]] Type type() const;
  [[nodiscard]] Shape shape() const { return type().shape; }
  [[nodiscard]] DType dtype() const { return type().dtype; }
  [[nodiscard]] size_t rank() const;
  [[nodiscard]] Dim dim(size_t i) const;  // throws UserError when out of range
  [[nodiscard]] ValueId id() const { return id_; }
  [[nodiscard]] Tracer& tracer() const { return *tracer_; }

 private:
  Tracer* tracer_;
  ValueId id_;
};

// Records one function. Holds the graph under construction, the module path and the parameters that may be used.
class Tracer {
 public:
  // `parameters` outlives the tracer.
  explicit Tracer(const std::vector<Parameter>& parameters) : parameters_(parameters) {}
  Tracer(const Tracer&) = delete;
  Tracer& operator=(const Tracer&) = delete;

  [[nodiscard]] Tensor input(Type type) { return {*this, builder_.input(std::move(type))}; }
  // The parameter of that name. Throws UserError when the model asks for one that it did not declare.
  [[nodiscard]] Tensor parameter(std::string_view name);
  [[nodiscard]] Tensor add(const OpDef& op, const std::vector<Tensor>& operands, std::vector<Attr> attrs = {},
                           std::vector<GraphPtr> regions = {});
  // A scalar constant.
  [[nodiscard]] Tensor scalar(DType dtype, double value);
  [[nodiscard]] std::string path() const;
  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }
  [[nodiscard]] GraphBuilder& builder() { return builder_; }
  [[noreturn]] void refuse(std::string_view message) const;

 private:
  friend class Scope;
  void place();
  const std::vector<Parameter>& parameters_;
  GraphBuilder builder_;
  std::vector<std::string> path_;
};

// Names the module that the following operations belong to, for as long as it lives.
class Scope {
 public:
  Scope(Tracer& tracer, std::string name);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  Tracer& tracer_;
};

// body() inside Scope(tracer, name).
template <class Body>
auto in_scope(Tracer& tracer, const char* name, const Body& body) {
  const Scope scope(tracer, name);
  return body();
}

// Elementwise. Operands of equal dtype; shapes broadcast as in numpy (trailing dims align, a dim of 1 stretches); two
// symbolic dims fit when their expressions are equal. Numbers take the tensor's dtype.
[[nodiscard]] Tensor operator+(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator-(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator*(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator/(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor operator+(const Tensor& a, double b);
[[nodiscard]] Tensor operator-(const Tensor& a, double b);
[[nodiscard]] Tensor operator*(const Tensor& a, double b);
[[nodiscard]] Tensor operator/(const Tensor& a, double b);
[[nodiscard]] Tensor maximum(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor select(const Tensor& predicate, const Tensor& on_true, const Tensor& on_false);
// direction: EQ NE LT LE GT GE.
[[nodiscard]] Tensor compare(const Tensor& a, std::string_view direction, const Tensor& b);
[[nodiscard]] Tensor logical_and(const Tensor& a, const Tensor& b);
[[nodiscard]] Tensor remainder(const Tensor& a, const Tensor& b);  // of the sign of a
[[nodiscard]] Tensor unary(const OpDef& op, const Tensor& x);      // exponential, tanh, rsqrt, ... (ops/ops.h)

[[nodiscard]] Tensor convert(const Tensor& x, DType dtype);
[[nodiscard]] Tensor iota(Tracer& tracer, DType dtype, Shape shape, int64_t dim);
[[nodiscard]] Tensor broadcast_to(const Tensor& x, const Shape& shape);  // numpy rules
// Operand dim i becomes dim `dims[i]` of the result.
[[nodiscard]] Tensor broadcast_in_dim(const Tensor& x, Shape shape, std::vector<int64_t> dims);
[[nodiscard]] Tensor reshape(const Tensor& x, Shape shape);
[[nodiscard]] Tensor transpose(const Tensor& x, std::vector<int64_t> permutation);
// [start, limit) of dim in steps of `stride`; the others whole.
[[nodiscard]] Tensor slice(const Tensor& x, int64_t dim, Dim start, Dim limit, int64_t stride = 1);
[[nodiscard]] Tensor concatenate(const std::vector<Tensor>& parts, int64_t dim);
// Sum, maximum or minimum over `dims`, which disappear.
[[nodiscard]] Tensor reduce_sum(const Tensor& x, std::vector<int64_t> dims);
[[nodiscard]] Tensor reduce_max(const Tensor& x, std::vector<int64_t> dims);
[[nodiscard]] Tensor reduce_min(const Tensor& x, std::vector<int64_t> dims);
// Rows of x [B, M, E] by number: rows i32 [B, N] -> [B, N, E]. Of heads, x [B, H, M, D]: -> [B, H, N, D]. A number
// outside [0, M) is moved inside.
[[nodiscard]] Tensor take_rows(const Tensor& x, const Tensor& rows);
// A row of zeros before the rows of x [.., M, E]: [.., M + 1, E].
[[nodiscard]] Tensor after_zero_row(const Tensor& x);
// x [B] as [B, 1].
[[nodiscard]] Tensor column(const Tensor& x);
// x with `update` in the place that starts at `starts`, one i32 scalar a dim, moved so that it fits.
[[nodiscard]] Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, const std::vector<Tensor>& starts);
// For each row of logits [B, V] the id of the largest, i32 [B]: the lowest id of equal ones, -1 where any is NaN.
[[nodiscard]] Tensor argmax(const Tensor& logits);
// Batch dims come first in the result, then the free dims of a, then of b.
struct DotDims {
  std::vector<int64_t> a_batch, b_batch, a_contract, b_contract;
};
[[nodiscard]] Tensor dot(const Tensor& a, const Tensor& b, DotDims dims);

}  // namespace headrace
