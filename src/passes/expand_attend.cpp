#include <limits>

#include "passes/expansions.h"
#include "passes/node_maker.h"

namespace headrace {

namespace {

using Ints = std::vector<int64_t>;

// Far below any score, and far enough from f32's lowest that subtracting a maximum cannot overflow.
constexpr double kInvisible = -1e30;

struct AttendSite {
  ValueId q, k, v, query_positions, key_positions;
  double scale{};
  double softcap{};
  int64_t window{};
  Dim batch, kv_heads, group, queries, keys, value_width;
};

AttendSite read(NodeMaker& make, const RewriteSite& site) {
  const Node& node = site.old.nodes()[site.node];
  const Shape q = make.type(site.operands[0]).shape;
  const Shape k = make.type(site.operands[1]).shape;
  return {.q = site.operands[0],
          .k = site.operands[1],
          .v = site.operands[2],
          .query_positions = site.operands[3],
          .key_positions = site.operands[4],
          .scale = std::get<double>(node.attrs[0]),
          .softcap = std::get<double>(node.attrs[1]),
          .window = std::get<int64_t>(node.attrs[2]),
          .batch = q[0],
          .kv_heads = q[1],
          .group = q[2],
          .queries = q[3],
          .keys = k[2],
          .value_width = make.type(site.operands[2]).shape[3]};
}

// i1 [B, S, T]: key j is visible to query i iff 0 <= key position <= query position < key position + window. Positions
// are i32, so a window beyond their range hides nothing.
ValueId visible(NodeMaker& make, const AttendSite& in) {
  const Shape shape{in.batch, in.queries, in.keys};
  const ValueId query = make.broadcast(in.query_positions, shape, {0, 1});
  const ValueId key = make.broadcast(in.key_positions, shape, {0, 2});
  ValueId mask = make.make(ops::kAnd, {make.compare(key, "LE", query), make.compare(key, "GE", make.filled(key, 0))});
  if (in.window == 0 || in.window > std::numeric_limits<int32_t>::max()) return mask;
  const ValueId distance = make.make(ops::kSubtract, {query, key});
  const ValueId near = make.compare(distance, "LT", make.filled(distance, static_cast<double>(in.window)));
  return make.make(ops::kAnd, {mask, near});
}

ValueId capped(NodeMaker& make, ValueId scores, double softcap) {
  if (softcap == 0) return scores;
  const ValueId ratio = make.make(ops::kDivide, {scores, make.filled(scores, softcap)});
  return make.make(ops::kMultiply, {make.make(ops::kTanh, {ratio}), make.filled(scores, softcap)});
}

}  // namespace

Result<std::vector<ValueId>> attend_grouped_dots(GraphBuilder& builder, const RewriteSite& site) {
  NodeMaker make(builder);
  const AttendSite in = read(make, site);
  const Type result = make.type(in.q);
  const DType sum = result.dtype == DType::kF64 ? DType::kF64 : DType::kF32;
  const Shape grouped{in.batch, in.kv_heads, in.group, in.queries, in.keys};

  ValueId scores = make.make(ops::kDotGeneral, {in.q, in.k}, {Ints{0, 1}, Ints{0, 1}, Ints{4}, Ints{3}, sum});
  scores = capped(make, make.make(ops::kMultiply, {scores, make.filled(scores, in.scale)}), in.softcap);

  const ValueId mask = make.broadcast(visible(make, in), grouped, {0, 3, 4});
  const ValueId masked = make.make(ops::kSelect, {mask, scores, make.filled(scores, kInvisible)});
  const ValueId highest = make.reduce(ops::kMaximum, masked, {4}, kInvisible);
  // The scores themselves, not the masked ones: what is invisible is selected away below, whatever it is by then, and
  // with a second use of the masked scores IREE would want a stack buffer of symbolic size to hold them.
  const ValueId shifted = make.make(ops::kSubtract, {scores, make.broadcast(highest, grouped, {0, 1, 2, 3})});
  const ValueId weights =
      make.make(ops::kSelect, {mask, make.make(ops::kExponential, {shifted}), make.filled(shifted, 0)});
  // At least one weight is 1 wherever a key is visible, so the maximum changes nothing but rows without keys.
  const ValueId total = make.reduce(ops::kAdd, weights, {4}, 0);
  const ValueId divisor = make.make(ops::kMaximum, {total, make.filled(total, 1)});

  const ValueId mixed =
      make.make(ops::kDotGeneral, {weights, make.convert(in.v, sum)}, {Ints{0, 1}, Ints{0, 1}, Ints{4}, Ints{2}, sum});
  const Shape out{in.batch, in.kv_heads, in.group, in.queries, in.value_width};
  const ValueId normal = make.make(ops::kDivide, {mixed, make.broadcast(divisor, out, {0, 1, 2, 3})});
  return std::vector{make.convert(normal, result.dtype)};
}

}  // namespace headrace
