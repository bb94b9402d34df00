#include <functional>
#include <numeric>
#include <optional>

#include "passes/expansions.h"
#include "passes/node_maker.h"

namespace headrace {

namespace {

using Ints = std::vector<int64_t>;

struct LinearSite {
  ValueId x;
  ValueId weight;
  std::optional<ValueId> bias;
  Ints split;
  Ints merge;
};

LinearSite read(const RewriteSite& site) {
  const Node& node = site.old.nodes()[site.node];
  LinearSite out{.x = site.operands[0],
                 .weight = site.operands[1],
                 .bias = std::nullopt,
                 .split = std::get<Ints>(node.attrs[0]),
                 .merge = std::get<Ints>(node.attrs[1])};
  if (site.operands.size() > 2) out.bias = site.operands[2];
  return out;
}

// first, first + 1, ...
Ints range(int64_t first, size_t count) {
  Ints out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

int64_t size(const Ints& list) { return static_cast<int64_t>(list.size()); }

int64_t product(const Ints& factors) {
  return std::accumulate(factors.begin(), factors.end(), int64_t{1}, std::multiplies<>());
}

void append(Shape& shape, const Ints& dims) { shape.insert(shape.end(), dims.begin(), dims.end()); }

// [B, heads.., S, in/H] -> [B, S, in].
ValueId merged(NodeMaker& make, ValueId x, const Ints& heads) {
  if (heads.empty()) return x;
  const Shape s = make.type(x).shape;
  const int64_t n = size(heads);
  Ints order{0, n + 1};
  for (const int64_t d : range(1, heads.size())) order.push_back(d);
  order.push_back(n + 2);
  return make.reshape(make.transpose(x, order), {s[0], s[heads.size() + 1], s.back() * product(heads)});
}

// [B, S, out] -> [B, heads.., S, out/H].
ValueId split(NodeMaker& make, ValueId y, const Ints& heads) {
  if (heads.empty()) return y;
  const Shape s = make.type(y).shape;
  Shape apart{s[0], s[1]};
  append(apart, heads);
  apart.push_back(s[2].value() / product(heads));
  Ints order{0};
  for (const int64_t d : range(2, heads.size())) order.push_back(d);
  order.insert(order.end(), {1, size(heads) + 2});
  return make.transpose(make.reshape(y, apart), order);
}

ValueId with_bias(NodeMaker& make, ValueId y, const std::optional<ValueId>& bias) {
  if (!bias) return y;
  const Type type = make.type(y);
  const auto last = static_cast<int64_t>(type.shape.size()) - 1;
  return make.make(ops::kAdd, {y, make.broadcast(make.convert(*bias, type.dtype), type.shape, {last})});
}

// Sums are in the activations' type or f32, the wider.
DType sum_type(const Type& activations) { return activations.dtype == DType::kF64 ? DType::kF64 : DType::kF32; }

// A product of x and the weight in the type it is summed in. Where their types differ the narrow one is converted: x is
// never rounded.
struct Product {
  ValueId x;
  ValueId weight;
  DType sum{};
};

Product widened(NodeMaker& make, ValueId x, ValueId weight) {
  const Type type = make.type(x);
  const DType sum = sum_type(type);
  if (make.type(weight).dtype == type.dtype) return {.x = x, .weight = weight, .sum = sum};
  return {.x = make.convert(x, sum), .weight = make.convert(weight, sum), .sum = sum};
}

// Contracts the last dim of x with dim 1 of the weight.
ValueId contract(NodeMaker& make, ValueId narrow_x, ValueId narrow_weight) {
  const Type type = make.type(narrow_x);
  const auto last = static_cast<int64_t>(type.shape.size()) - 1;
  const auto [x, weight, sum] = widened(make, narrow_x, narrow_weight);
  return make.convert(make.make(ops::kDotGeneral, {x, weight}, {Ints{}, Ints{}, Ints{last}, Ints{1}, sum}), type.dtype);
}

// x [B, merge.., S, w] over the heads that the result has: [B, split.., merge.., S, w].
ValueId over_heads(NodeMaker& make, const LinearSite& in) {
  const Shape s = make.type(in.x).shape;
  Shape wide{s[0]};
  append(wide, in.split);
  wide.insert(wide.end(), s.begin() + 1, s.end());
  Ints dims{0};
  for (const int64_t d : range(1 + size(in.split), s.size() - 1)) dims.push_back(d);
  return make.broadcast(in.x, wide, dims);
}

// W [out, in] as [B, split.., out/H, merge.., w].
ValueId weight_by_heads(NodeMaker& make, const LinearSite& in, const Dim& batch) {
  const Shape s = make.type(in.weight).shape;
  Shape apart(in.split.begin(), in.split.end());
  apart.push_back(s[0].value() / product(in.split));
  append(apart, in.merge);
  apart.push_back(s[1].value() / product(in.merge));
  Shape full = apart;
  full.insert(full.begin(), batch);
  if (batch == Dim(1)) return make.reshape(in.weight, full);
  return make.broadcast(make.reshape(in.weight, apart), full, range(1, apart.size()));
}

Result<std::vector<ValueId>> dot_of_rows(GraphBuilder& builder, const RewriteSite& site, bool apart) {
  NodeMaker make(builder);
  const LinearSite in = read(site);
  const ValueId x = merged(make, in.x, in.merge);
  Shape shape = make.type(x).shape;
  const Dim width = shape.back();
  shape.pop_back();
  if (!is_static(shape))
    return fail(ErrorCode::kNoExpansion, "the number of rows in {} is symbolic", to_string(make.type(x)));
  const auto rows = elements(shape);
  if (!rows) return fail(ErrorCode::kNoExpansion, "the number of rows in {} overflows", to_string(make.type(x)));
  ValueId flat = make.reshape(x, {*rows, width});
  if (apart) flat = make.make(ops::kOptimizationBarrier, {flat});
  const ValueId y = with_bias(make, contract(make, flat, in.weight), in.bias);
  shape.push_back(make.type(y).shape.back());
  return std::vector{split(make, make.reshape(y, shape), in.split)};
}

}  // namespace

Result<std::vector<ValueId>> linear_dot_2d(GraphBuilder& builder, const RewriteSite& site) {
  return dot_of_rows(builder, site, false);
}

Result<std::vector<ValueId>> linear_dot_apart(GraphBuilder& builder, const RewriteSite& site) {
  return dot_of_rows(builder, site, true);
}

Result<std::vector<ValueId>> linear_dot_3d(GraphBuilder& builder, const RewriteSite& site) {
  NodeMaker make(builder);
  const LinearSite in = read(site);
  const ValueId y = with_bias(make, contract(make, merged(make, in.x, in.merge), in.weight), in.bias);
  return std::vector{split(make, y, in.split)};
}

Result<std::vector<ValueId>> linear_batched(GraphBuilder& builder, const RewriteSite& site) {
  NodeMaker make(builder);
  const LinearSite in = read(site);
  const Type type = make.type(in.x);
  if (in.split.empty() && in.merge.empty() && type.shape.size() == 2)
    return std::vector{with_bias(make, contract(make, in.x, in.weight), in.bias)};
  if (type.shape.size() != in.merge.size() + 3)
    return fail(ErrorCode::kNoExpansion, "{} is not [batch, .., sequence, width]", to_string(type));
  const int64_t s = size(in.split);
  const int64_t m = size(in.merge);
  Ints weight_batch = range(0, in.split.size() + 1);
  for (const int64_t d : range(s + 2, in.merge.size())) weight_batch.push_back(d);
  const auto [x, weight, sum] = widened(make, over_heads(make, in), weight_by_heads(make, in, type.shape[0]));
  ValueId y =
      make.make(ops::kDotGeneral, {x, weight},
                {range(0, in.split.size() + in.merge.size() + 1), weight_batch, Ints{s + m + 2}, Ints{s + m + 2}, sum});
  if (m != 0) y = make.reduce(ops::kAdd, y, range(s + 1, in.merge.size()), 0);
  y = make.convert(y, type.dtype);
  if (!in.bias || s == 0) return std::vector{with_bias(make, y, in.bias)};
  Shape apart(in.split.begin(), in.split.end());
  const Shape full = make.type(y).shape;
  apart.push_back(full.back());
  Ints dims = range(1, in.split.size());
  dims.push_back(s + 2);
  const ValueId bias = make.reshape(make.convert(*in.bias, type.dtype), apart);
  return std::vector{make.make(ops::kAdd, {y, make.broadcast(bias, full, dims)})};
}

Result<std::vector<ValueId>> linear_reduce(GraphBuilder& builder, const RewriteSite& site) {
  NodeMaker make(builder);
  const LinearSite in = read(site);
  const ValueId x = merged(make, in.x, in.merge);
  const Type type = make.type(x);
  Shape shape = type.shape;
  const Dim width = shape.back();
  shape.pop_back();
  if (!is_static(shape) || elements(shape) != 1)
    return fail(ErrorCode::kNoExpansion, "{} has not one row", to_string(type));
  // Without the barrier XLA would compute x again for every row of the weight.
  const ValueId row = make.make(ops::kOptimizationBarrier, {make.reshape(x, {width})});
  const DType sum = sum_type(type);
  const ValueId weight = make.convert(in.weight, sum);
  const ValueId wide = make.broadcast(make.convert(row, sum), make.type(weight).shape, {1});
  const ValueId y = make.convert(make.reduce(ops::kAdd, make.make(ops::kMultiply, {weight, wide}), {1}, 0), type.dtype);
  shape.push_back(make.type(y).shape[0]);
  return std::vector{split(make, with_bias(make, make.reshape(y, shape), in.bias), in.split)};
}

namespace {

ValueId gathered(NodeMaker& make, ValueId table, ValueId ids) {
  const int64_t width = make.type(table).shape[1].value();
  const auto ids_rank = static_cast<int64_t>(make.type(ids).shape.size());
  // offset dims, collapsed slice dims, start index map, index vector dim, slice sizes
  return make.make(ops::kGather, {table, ids}, {Ints{ids_rank}, Ints{0}, Ints{0}, ids_rank, Ints{1, width}});
}

}  // namespace

Result<std::vector<ValueId>> embedding_gather(GraphBuilder& builder, const RewriteSite& site) {
  NodeMaker make(builder);
  return std::vector{gathered(make, site.operands[0], site.operands[1])};
}

Result<std::vector<ValueId>> embedding_gather_bits(GraphBuilder& builder, const RewriteSite& site) {
  NodeMaker make(builder);
  const ValueId table = site.operands[0];
  const DType dtype = make.type(table).dtype;
  const ValueId bits = make.make(ops::kBitcastConvert, {table}, {DType::kU16});
  return std::vector{make.make(ops::kBitcastConvert, {gathered(make, bits, site.operands[1])}, {dtype})};
}

}  // namespace headrace
