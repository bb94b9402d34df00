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
  int64_t split{};
  int64_t merge{};
};

LinearSite read(const RewriteSite& site) {
  const Node& node = site.old.nodes()[site.node];
  LinearSite out{.x = site.operands[0],
                 .weight = site.operands[1],
                 .bias = std::nullopt,
                 .split = std::get<int64_t>(node.attrs[0]),
                 .merge = std::get<int64_t>(node.attrs[1])};
  if (site.operands.size() > 2) out.bias = site.operands[2];
  return out;
}

// [B, H, S, in/H] -> [B, S, in].
ValueId merged(NodeMaker& make, ValueId x, int64_t heads) {
  if (heads == 0) return x;
  const Shape s = make.type(x).shape;
  return make.reshape(make.transpose(x, {0, 2, 1, 3}), {s[0], s[2], s[3] * heads});
}

// [B, S, out] -> [B, H, S, out/H].
ValueId split(NodeMaker& make, ValueId y, int64_t heads) {
  if (heads == 0) return y;
  const Shape s = make.type(y).shape;
  return make.transpose(make.reshape(y, {s[0], s[1], heads, s[2].value() / heads}), {0, 2, 1, 3});
}

ValueId with_bias(NodeMaker& make, ValueId y, const std::optional<ValueId>& bias) {
  if (!bias) return y;
  const Type type = make.type(y);
  const auto last = static_cast<int64_t>(type.shape.size()) - 1;
  return make.make(ops::kAdd, {y, make.broadcast(make.convert(*bias, type.dtype), type.shape, {last})});
}

// What products are summed in: the activations' type or f32, the wider.
DType sum_type(const Type& activations) { return activations.dtype == DType::kF64 ? DType::kF64 : DType::kF32; }

// Contracts the last dim of x with dim 1 of the weight. Where their types differ the narrow one is converted: x is never
// rounded.
ValueId contract(NodeMaker& make, ValueId x, ValueId weight) {
  const Type type = make.type(x);
  const DType sum = sum_type(type);
  if (make.type(weight).dtype != type.dtype) {
    x = make.convert(x, sum);
    weight = make.convert(weight, sum);
  }
  const auto last = static_cast<int64_t>(type.shape.size()) - 1;
  return make.convert(make.make(ops::kDotGeneral, {x, weight}, {Ints{}, Ints{}, Ints{last}, Ints{1}, sum}), type.dtype);
}

}  // namespace

Result<std::vector<ValueId>> linear_dot_2d(GraphBuilder& builder, const RewriteSite& site) {
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
  const ValueId y = with_bias(make, contract(make, make.reshape(x, {*rows, width}), in.weight), in.bias);
  shape.push_back(make.type(y).shape.back());
  return std::vector{split(make, make.reshape(y, shape), in.split)};
}

Result<std::vector<ValueId>> linear_dot_3d(GraphBuilder& builder, const RewriteSite& site) {
  NodeMaker make(builder);
  const LinearSite in = read(site);
  const ValueId y = with_bias(make, contract(make, merged(make, in.x, in.merge), in.weight), in.bias);
  return std::vector{split(make, y, in.split)};
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
  const ValueId y = make.convert(make.reduce(ops::kAdd, make.make(ops::kMultiply, {weight, wide}), 1, 0), type.dtype);
  shape.push_back(make.type(y).shape[0]);
  return std::vector{split(make, with_bias(make, make.reshape(y, shape), in.bias), in.split)};
}

Result<std::vector<ValueId>> embedding_gather(GraphBuilder& builder, const RewriteSite& site) {
  NodeMaker make(builder);
  const ValueId table = site.operands[0];
  const int64_t width = make.type(table).shape[1].value();
  const auto ids_rank = static_cast<int64_t>(make.type(site.operands[1]).shape.size());
  // offset dims, collapsed slice dims, start index map, index vector dim, slice sizes
  return std::vector{
      make.make(ops::kGather, {table, site.operands[1]}, {Ints{ids_rank}, Ints{0}, Ints{0}, ids_rank, Ints{1, width}})};
}

}  // namespace headrace
