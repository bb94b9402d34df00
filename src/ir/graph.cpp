#include "ir/graph.h"

#include <algorithm>
#include <functional>

namespace headrace {

namespace {

Result<std::vector<Type>> infer_input(const InferArgs&) {
  return fail(ErrorCode::kInfer, "graph inputs are made by GraphBuilder::input, not added as nodes");
}

constexpr AttrSpec kInputAttrs[] = {{.name = "index", .kind = AttrKind::kInt}};

size_t mix(size_t seed, size_t value) { return seed ^ (value + 0x9E3779B97F4A7C15ULL + (seed << 6) + (seed >> 2)); }

std::vector<bool> live_nodes(const std::vector<Node>& nodes, size_t inputs, const std::vector<ValueId>& results) {
  std::vector<bool> live(nodes.size(), false);
  std::fill_n(live.begin(), inputs, true);
  for (const ValueId& r : results) live[r.node] = true;
  for (size_t i = nodes.size(); i-- > 0;) {
    if (!live[i]) continue;
    for (const ValueId& operand : nodes[i].operands) live[operand.node] = true;
  }
  return live;
}

}  // namespace

const OpDef kInputOp = {.name = "input",
                        .level = OpLevel::kCore,
                        .summary = "an input of the graph",
                        .spec = "docs/hir.md#graphs",
                        .operands = 0,
                        .attrs = kInputAttrs,
                        .regions = 0,
                        .infer = infer_input};

std::vector<Type> Graph::input_types() const {
  std::vector<Type> out;
  for (size_t i = 0; i < inputs_; ++i) out.push_back(nodes_[i].results[0]);
  return out;
}

std::vector<Type> Graph::result_types() const {
  std::vector<Type> out;
  for (const ValueId& r : results_) out.push_back(type(r));
  return out;
}

bool same(const Node& a, const Node& b) {
  const auto same_attr = [](const Attr& x, const Attr& y) { return same(x, y); };
  const auto same_region = [](const GraphPtr& x, const GraphPtr& y) { return x == y || *x == *y; };
  return a.op == b.op && a.operands == b.operands && a.results == b.results &&
         std::equal(a.attrs.begin(), a.attrs.end(), b.attrs.begin(), b.attrs.end(), same_attr) &&
         std::equal(a.regions.begin(), a.regions.end(), b.regions.begin(), b.regions.end(), same_region);
}

size_t hash(const Node& node) {
  size_t seed = std::hash<const void*>{}(node.op);
  for (const ValueId& operand : node.operands) seed = mix(seed, (size_t{operand.node} << 8) + operand.result);
  for (const Attr& attr : node.attrs) seed = mix(seed, hash(attr));
  for (const GraphPtr& region : node.regions) seed = mix(seed, region->nodes().size());
  return seed;
}

bool contains(const Graph& graph, const OpDef& op) {
  return std::ranges::any_of(graph.nodes(), [&](const Node& node) {
    return node.op == &op ||
           std::ranges::any_of(node.regions, [&](const GraphPtr& region) { return contains(*region, op); });
  });
}

bool operator==(const Graph& a, const Graph& b) {
  return a.inputs_ == b.inputs_ && a.results_ == b.results_ &&
         std::equal(a.nodes_.begin(), a.nodes_.end(), b.nodes_.begin(), b.nodes_.end(),
                    [](const Node& x, const Node& y) { return same(x, y); });
}

void GraphBuilder::reserve(size_t nodes) {
  nodes_.reserve(nodes);
  places_.reserve(nodes);
  by_hash_.reserve(nodes);
}

ValueId GraphBuilder::input(Type type) {
  HR_CHECK(nodes_.size() == inputs_);
  nodes_.push_back({.op = &kInputOp,
                    .operands = {},
                    .attrs = {static_cast<int64_t>(inputs_)},
                    .regions = {},
                    .results = {std::move(type)}});
  places_.push_back(place_);
  return {.node = static_cast<uint32_t>(inputs_++), .result = 0};
}

Status GraphBuilder::check_links(const OpDef& op, const std::vector<ValueId>& operands, const std::vector<Attr>& attrs,
                                 const std::vector<GraphPtr>& regions) const {
  std::vector<std::string> faults;
  const auto fault = [&]<class... A>(fmt::format_string<A...> text, A&&... args) {
    faults.push_back(fmt::format("{}: {}", op.name, fmt::format(text, std::forward<A>(args)...)));
  };
  if (op.operands >= 0 && operands.size() != static_cast<size_t>(op.operands))
    fault("{} operands, expected {}", operands.size(), op.operands);
  for (size_t i = 0; i < operands.size(); ++i) {
    const ValueId v = operands[i];
    if (v.node >= nodes_.size())
      fault("operand {} is node {}, and the graph has {} so far", i, v.node, nodes_.size());
    else if (v.result >= nodes_[v.node].results.size())
      fault("operand {} is result {} of a node that has {}", i, v.result, nodes_[v.node].results.size());
  }
  if (attrs.size() != op.attrs.size()) fault("{} attributes, expected {}", attrs.size(), op.attrs.size());
  for (size_t i = 0; i < std::min(attrs.size(), op.attrs.size()); ++i)
    if (attrs[i].index() != static_cast<size_t>(op.attrs[i].kind))
      fault("attribute '{}' has kind {}, expected {}", op.attrs[i].name, attrs[i].index(),
            static_cast<size_t>(op.attrs[i].kind));
  if (regions.size() != static_cast<size_t>(op.regions)) fault("{} regions, expected {}", regions.size(), op.regions);
  for (size_t i = 0; i < regions.size(); ++i)
    if (regions[i] == nullptr) fault("region {} is absent", i);
  if (!faults.empty()) return fail(merge_faults(ErrorCode::kVerify, std::move(faults)));
  return {};
}

Result<ValueId> GraphBuilder::add(const OpDef& op, std::vector<ValueId> operands, std::vector<Attr> attrs,
                                  std::vector<GraphPtr> regions) {
  HR_TRY_STATUS(check_links(op, operands, attrs, regions));
  std::vector<Type> types;
  types.reserve(operands.size());
  for (const ValueId& operand : operands) types.push_back(type(operand));
  auto results = op.infer({.operands = types, .attrs = attrs, .regions = regions});
  if (!results) return fail(std::move(results).error().in(op.name));
  return intern({.op = &op,
                 .operands = std::move(operands),
                 .attrs = std::move(attrs),
                 .regions = std::move(regions),
                 .results = *std::move(results)});
}

Result<ValueId> GraphBuilder::copy(const Graph& from, uint32_t id, std::vector<ValueId> operands,
                                   std::vector<GraphPtr> regions) {
  const Node& old = from.nodes()[id];
  const bool as_before = regions == old.regions &&
                         std::ranges::equal(operands, old.operands,
                                            [&](ValueId now, ValueId then) { return type(now) == from.type(then); });
  if (!as_before) return add(*old.op, std::move(operands), old.attrs, std::move(regions));
  return intern({.op = old.op,
                 .operands = std::move(operands),
                 .attrs = old.attrs,
                 .regions = std::move(regions),
                 .results = old.results});
}

// The equal node that exists, or this one.
ValueId GraphBuilder::intern(Node node) {
  const size_t key = hash(node);
  for (auto [it, end] = by_hash_.equal_range(key); it != end; ++it)
    if (same(nodes_[it->second], node)) return {.node = it->second, .result = 0};
  const auto id = static_cast<uint32_t>(nodes_.size());
  by_hash_.emplace(key, id);
  nodes_.push_back(std::move(node));
  places_.push_back(place_);
  return {.node = id, .result = 0};
}

Result<GraphPtr> GraphBuilder::finish(std::vector<ValueId> results) && {
  if (results.empty()) return fail(ErrorCode::kVerify, "a graph needs at least one result");
  for (size_t i = 0; i < results.size(); ++i)
    if (results[i].node >= nodes_.size() || results[i].result >= nodes_[results[i].node].results.size())
      return fail(ErrorCode::kVerify, "result {} names no value of the graph", i);

  const auto live = live_nodes(nodes_, inputs_, results);
  std::vector<uint32_t> moved(nodes_.size());
  auto graph = std::make_shared<Graph>();
  graph->inputs_ = inputs_;
  // To the number, since both lists of nodes are in memory for a moment.
  const auto count = static_cast<size_t>(std::count(live.begin(), live.end(), true));
  graph->nodes_.reserve(count);
  graph->places_.reserve(count);
  for (size_t i = 0; i < nodes_.size(); ++i) {
    if (!live[i]) continue;
    moved[i] = static_cast<uint32_t>(graph->nodes_.size());
    for (ValueId& operand : nodes_[i].operands) operand.node = moved[operand.node];
    graph->nodes_.push_back(std::move(nodes_[i]));
    graph->places_.push_back(std::move(places_[i]));
  }
  for (ValueId& r : results) r.node = moved[r.node];
  graph->results_ = std::move(results);
  return GraphPtr(std::move(graph));
}

}  // namespace headrace
