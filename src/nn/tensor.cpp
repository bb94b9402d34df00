#include "nn/tensor.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "ops/ops.h"

namespace headrace {

namespace {

// numpy's rule for one pair of aligned dims: nullptr when they do not fit.
const Dim* join(const Dim& a, const Dim& b) {
  if (a == b || b == Dim(1)) return &a;
  return a == Dim(1) ? &b : nullptr;
}

std::optional<Shape> joined_shape(const Shape& a, const Shape& b) {
  Shape out = a.size() >= b.size() ? a : b;
  const Shape& shorter = a.size() >= b.size() ? b : a;
  const size_t offset = out.size() - shorter.size();
  for (size_t i = 0; i < shorter.size(); ++i) {
    const Dim* d = join(out[offset + i], shorter[i]);
    if (d == nullptr) return std::nullopt;
    out[offset + i] = *d;
  }
  return out;
}

Tensor binary(const OpDef& op, const Tensor& a, const Tensor& b, std::vector<Attr> attrs = {}) {
  const auto shape = joined_shape(a.shape(), b.shape());
  if (!shape || a.dtype() != b.dtype())
    a.tracer().refuse(fmt::format("{}: {} and {} do not fit", op.name, to_string(a.type()), to_string(b.type())));
  return a.tracer().add(op, {broadcast_to(a, *shape), broadcast_to(b, *shape)}, std::move(attrs));
}

Tensor with_scalar(const OpDef& op, const Tensor& a, double b) {
  return binary(op, a, a.tracer().scalar(a.dtype(), b));
}

// A region of one op on two scalars: the body of a reduction.
GraphPtr scalar_region(const OpDef& op, DType dtype) {
  GraphBuilder builder;
  const ValueId acc = builder.input({.dtype = dtype, .shape = {}});
  const ValueId element = builder.input({.dtype = dtype, .shape = {}});
  auto sum = builder.add(op, {acc, element});
  HR_CHECK(sum.has_value());
  auto graph = std::move(builder).finish({*sum});
  HR_CHECK(graph.has_value());
  return *graph;
}

Tensor reduce(const Tensor& x, std::vector<int64_t> dims, const OpDef& op, double start) {
  Tracer& t = x.tracer();
  return t.add(ops::kReduce, {x, t.scalar(x.dtype(), start)}, {int64_t{1}, std::move(dims)},
               {scalar_region(op, x.dtype())});
}

}  // namespace

Type Tensor::type() const { return tracer_->builder().type(id_); }

size_t Tensor::rank() const { return tracer_->builder().type(id_).shape.size(); }

Dim Tensor::dim(size_t i) const {
  if (i >= rank()) tracer_->refuse(fmt::format("{} has no dim {}", to_string(type()), i));
  return tracer_->builder().type(id_).shape[i];
}

Tensor Tracer::parameter(std::string_view name) {
  const auto it =
      std::find_if(parameters_.begin(), parameters_.end(), [&](const Parameter& p) { return p.name == name; });
  if (it == parameters_.end()) refuse(fmt::format("parameter '{}' is not in the model's tensor table", name));
  return add(ops::kParameter, {}, {it->name, it->type.dtype, it->type.shape});
}

Tensor Tracer::add(const OpDef& op, const std::vector<Tensor>& operands, std::vector<Attr> attrs,
                   std::vector<GraphPtr> regions) {
  std::vector<ValueId> ids;
  for (const Tensor& t : operands) {
    if (&t.tracer() != this) refuse(fmt::format("{}: an operand belongs to another graph", op.name));
    ids.push_back(t.id());
  }
  auto added = builder_.add(op, std::move(ids), std::move(attrs), std::move(regions));
  if (!added) throw UserError(path_.empty() ? std::move(added).error() : std::move(added).error().in(path()));
  return {*this, *added};
}

Tensor Tracer::scalar(DType dtype, double value) {
  return add(ops::kConstant, {}, {Literal::filled(dtype, {}, value)});
}

std::string Tracer::path() const { return fmt::format("{}", fmt::join(path_, ".")); }

void Tracer::refuse(std::string_view message) const {
  throw UserError({.code = ErrorCode::kTrace,
                   .message = path_.empty() ? std::string(message) : fmt::format("{}: {}", path(), message)});
}

void Tracer::place() { builder_.set_place(path()); }

Scope::Scope(Tracer& tracer, std::string name) : tracer_(tracer) {
  tracer_.path_.push_back(std::move(name));
  tracer_.place();
}

Scope::~Scope() {
  tracer_.path_.pop_back();
  tracer_.place();
}

Tensor operator+(const Tensor& a, const Tensor& b) { return binary(ops::kAdd, a, b); }
Tensor operator-(const Tensor& a, const Tensor& b) { return binary(ops::kSubtract, a, b); }
Tensor operator*(const Tensor& a, const Tensor& b) { return binary(ops::kMultiply, a, b); }
Tensor operator/(const Tensor& a, const Tensor& b) { return binary(ops::kDivide, a, b); }
Tensor operator+(const Tensor& a, double b) { return with_scalar(ops::kAdd, a, b); }
Tensor operator-(const Tensor& a, double b) { return with_scalar(ops::kSubtract, a, b); }
Tensor operator*(const Tensor& a, double b) { return with_scalar(ops::kMultiply, a, b); }
Tensor operator/(const Tensor& a, double b) { return with_scalar(ops::kDivide, a, b); }
Tensor maximum(const Tensor& a, const Tensor& b) { return binary(ops::kMaximum, a, b); }
Tensor logical_and(const Tensor& a, const Tensor& b) { return binary(ops::kAnd, a, b); }
Tensor remainder(const Tensor& a, const Tensor& b) { return binary(ops::kRemainder, a, b); }
Tensor unary(const OpDef& op, const Tensor& x) { return x.tracer().add(op, {x}); }

Tensor compare(const Tensor& a, std::string_view direction, const Tensor& b) {
  return binary(ops::kCompare, a, b, {std::string(direction)});
}

Tensor select(const Tensor& predicate, const Tensor& on_true, const Tensor& on_false) {
  const auto values = joined_shape(on_true.shape(), on_false.shape());
  const auto shape = values ? joined_shape(*values, predicate.shape()) : std::nullopt;
  if (!shape)
    predicate.tracer().refuse(fmt::format("select: {}, {} and {} do not fit", to_string(predicate.type()),
                                          to_string(on_true.type()), to_string(on_false.type())));
  return predicate.tracer().add(
      ops::kSelect, {broadcast_to(predicate, *shape), broadcast_to(on_true, *shape), broadcast_to(on_false, *shape)});
}

Tensor convert(const Tensor& x, DType dtype) {
  return x.dtype() == dtype ? x : x.tracer().add(ops::kConvert, {x}, {dtype});
}

Tensor iota(Tracer& tracer, DType dtype, Shape shape, int64_t dim) {
  return tracer.add(ops::kIota, {}, {dtype, std::move(shape), dim});
}

Tensor broadcast_to(const Tensor& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  if (x.rank() > shape.size())
    x.tracer().refuse(fmt::format("broadcast: {} does not fit {}", to_string(x.type()), to_string(shape)));
  std::vector<int64_t> dims;
  for (size_t i = 0; i < x.rank(); ++i) dims.push_back(static_cast<int64_t>(shape.size() - x.rank() + i));
  return broadcast_in_dim(x, shape, std::move(dims));
}

Tensor broadcast_in_dim(const Tensor& x, Shape shape, std::vector<int64_t> dims) {
  return x.tracer().add(ops::kBroadcastInDim, {x}, {std::move(shape), std::move(dims)});
}

Tensor reshape(const Tensor& x, Shape shape) {
  return x.shape() == shape ? x : x.tracer().add(ops::kReshape, {x}, {std::move(shape)});
}

Tensor transpose(const Tensor& x, std::vector<int64_t> permutation) {
  return x.tracer().add(ops::kTranspose, {x}, {std::move(permutation)});
}

Tensor slice(const Tensor& x, int64_t dim, Dim start, Dim limit, int64_t stride) {
  Shape starts(x.rank(), Dim(0));
  Shape limits = x.shape();
  if (dim < 0 || static_cast<size_t>(dim) >= x.rank())
    x.tracer().refuse(fmt::format("slice: {} has no dim {}", to_string(x.type()), dim));
  starts[static_cast<size_t>(dim)] = std::move(start);
  limits[static_cast<size_t>(dim)] = std::move(limit);
  std::vector<int64_t> strides(x.rank(), 1);
  strides[static_cast<size_t>(dim)] = stride;
  return x.tracer().add(ops::kSlice, {x}, {std::move(starts), std::move(limits), std::move(strides)});
}

Tensor concatenate(const std::vector<Tensor>& parts, int64_t dim) {
  HR_CHECK(!parts.empty());
  return parts.front().tracer().add(ops::kConcatenate, parts, {dim});
}

Tensor reduce_sum(const Tensor& x, std::vector<int64_t> dims) { return reduce(x, std::move(dims), ops::kAdd, 0.0); }

Tensor reduce_max(const Tensor& x, std::vector<int64_t> dims) {
  const double start =
      x.dtype() == DType::kI32 ? std::numeric_limits<int32_t>::min() : -std::numeric_limits<double>::infinity();
  return reduce(x, std::move(dims), ops::kMaximum, start);
}

Tensor reduce_min(const Tensor& x, std::vector<int64_t> dims) {
  const double start =
      x.dtype() == DType::kI32 ? std::numeric_limits<int32_t>::max() : std::numeric_limits<double>::infinity();
  return reduce(x, std::move(dims), ops::kMinimum, start);
}

Tensor take_rows(const Tensor& x, const Tensor& rows) {
  Tracer& t = x.tracer();
  const auto last = static_cast<int64_t>(x.rank()) - 1;
  if (last != 2 && last != 3) t.refuse(fmt::format("take_rows: {} has no rows by batch", to_string(x.type())));
  const Shape one{rows.dim(0), rows.dim(1), 1};
  const Tensor numbers =
      concatenate({iota(t, rows.dtype(), one, 0), broadcast_in_dim(rows, one, {0, 1})}, 2);  // (batch, row)
  std::vector<int64_t> offset{last};
  std::vector<int64_t> sizes{1, 1, x.dim(x.rank() - 1).value()};
  if (last == 3) {
    offset = {1, 3};
    sizes = {1, x.dim(1).value(), 1, x.dim(3).value()};
  }
  const int64_t row_dim = last - 1;
  return t.add(ops::kGather, {x, numbers},
               {std::move(offset), std::vector<int64_t>{0, row_dim}, std::vector<int64_t>{0, row_dim}, int64_t{2},
                std::move(sizes)});
}

Tensor after_zero_row(const Tensor& x) {
  if (x.rank() < 2) x.tracer().refuse(fmt::format("after_zero_row: {} has no rows", to_string(x.type())));
  const size_t rows = x.rank() - 2;
  Shape one = x.shape();
  one[rows] = 1;
  return concatenate({broadcast_to(x.tracer().scalar(x.dtype(), 0), one), x}, static_cast<int64_t>(rows));
}

Tensor column(const Tensor& x) { return broadcast_in_dim(x, {x.dim(0), 1}, {0}); }

Tensor dynamic_update_slice(const Tensor& x, const Tensor& update, const std::vector<Tensor>& starts) {
  std::vector<Tensor> operands{x, update};
  operands.insert(operands.end(), starts.begin(), starts.end());
  return x.tracer().add(ops::kDynamicUpdateSlice, operands);
}

Tensor argmax(const Tensor& logits) {
  Tracer& t = logits.tracer();
  const auto number = [&](double value) { return t.scalar(DType::kI32, value); };
  const Tensor highest = broadcast_in_dim(reduce_max(logits, {1}), logits.shape(), {0});
  const Tensor ids = iota(t, DType::kI32, logits.shape(), 1);
  const Tensor lowest =
      reduce_min(select(compare(logits, "EQ", highest), ids, number(std::numeric_limits<int32_t>::max())), {1});
  const Tensor broken = reduce_max(select(compare(logits, "NE", logits), number(1), number(0)), {1});
  return select(compare(broken, "EQ", number(0)), lowest, number(-1));
}

Tensor dot(const Tensor& a, const Tensor& b, DotDims dims) {
  return a.tracer().add(ops::kDotGeneral, {a, b},
                        {std::move(dims.a_batch), std::move(dims.b_batch), std::move(dims.a_contract),
                         std::move(dims.b_contract), a.dtype()});
}

}  // namespace headrace
