#include "interp/plan.h"

#include "base/checked.h"

namespace headrace {

namespace {

constexpr int64_t kBytesPerElement = 8;  // the widest a host tensor uses

Result<Type> resolve(const Type& type, const SymbolValues& symbols) {
  Type out{type.dtype, substitute(type.shape, symbols)};
  for (size_t d = 0; d < out.shape.size(); ++d) {
    if (!out.shape[d].is_static())
      return fail(ErrorCode::kEvaluate, "no input gives {} in {} a value", to_string(out.shape[d]), to_string(type));
    if (out.shape[d].value() < 0)
      return fail(ErrorCode::kEvaluate, "dim {} of {} is {}, below 0", d, to_string(type), out.shape[d].value());
  }
  const auto count = elements(out.shape);
  if (!count || !checked_mul(*count, kBytesPerElement))
    return fail(ErrorCode::kMemoryLimit, "a value of type {} does not fit any memory", to_string(out));
  return out;
}

Result<std::vector<Type>> resolve(const std::vector<Type>& types, const SymbolValues& symbols) {
  std::vector<Type> out;
  out.reserve(types.size());
  for (const Type& type : types) {
    HR_TRY(auto resolved, resolve(type, symbols));
    out.push_back(std::move(resolved));
  }
  return out;
}

std::vector<uint32_t> schedule(const Graph& graph) {
  const auto& nodes = graph.nodes();
  std::vector<bool> placed(nodes.size(), false);
  std::vector<uint32_t> order;
  order.reserve(nodes.size());
  const auto place = [&](uint32_t node) {
    if (placed[node] || node < graph.inputs()) return;
    placed[node] = true;
    order.push_back(node);
  };
  for (auto i = static_cast<uint32_t>(graph.inputs()); i < nodes.size(); ++i) {
    if (nodes[i].operands.empty()) continue;
    for (const ValueId& operand : nodes[i].operands) place(operand.node);
    place(i);
  }
  for (const ValueId& result : graph.results()) place(result.node);
  return order;
}

}  // namespace

std::string title(const Graph& graph, uint32_t node) {
  const std::string& place = graph.place(node);
  const std::string_view op = graph.nodes()[node].op->name;
  return place.empty() ? std::string(op) : fmt::format("{}: {}", place, op);
}

Result<Plan> make_plan(const Graph& graph, const SymbolValues& symbols) {
  const auto& nodes = graph.nodes();
  Plan plan;
  HR_TRY(plan.inputs, resolve(graph.input_types(), symbols));
  for (const uint32_t node : schedule(graph)) {
    auto types = resolve(nodes[node].results, symbols);
    if (!types) return fail(std::move(types).error().in(title(graph, node)));
    plan.steps.push_back({.node = node, .types = *std::move(types), .drop = {}});
  }

  // Backwards: the first step that names a value is the last that needs it.
  std::vector<bool> needed(nodes.size(), false);
  for (const ValueId& result : graph.results()) needed[result.node] = true;
  for (size_t i = plan.steps.size(); i-- > 0;) {
    PlanStep& step = plan.steps[i];
    const auto last_use = [&](uint32_t node) {
      if (!needed[node]) step.drop.push_back(node);
      needed[node] = true;
    };
    last_use(step.node);
    for (const ValueId& operand : nodes[step.node].operands) last_use(operand.node);
  }
  for (uint32_t i = 0; i < graph.inputs(); ++i)
    if (!needed[i]) plan.unused_inputs.push_back(i);
  return plan;
}

}  // namespace headrace
