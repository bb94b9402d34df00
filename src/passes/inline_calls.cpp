#include "passes/inline_calls.h"

#include <algorithm>

#include "ir/rewrite.h"
#include "ops/ops.h"

namespace headrace {

namespace {

// Copies a closed graph into a builder with its inputs bound to `inputs`; calls inside it are inlined too.
Result<std::vector<ValueId>> copy_into(GraphBuilder& builder, const Module& module, const Graph& graph,
                                       std::span<const ValueId> inputs);

Result<std::vector<ValueId>> inlined(GraphBuilder& builder, const Module& module, const Node& node,
                                     std::span<const ValueId> operands) {
  const Function* callee = module.find(std::get<std::string>(node.attrs[0]));
  HR_CHECK(callee != nullptr);
  return copy_into(builder, module, *callee->graph, operands);
}

RewriteRule inline_rule(const Module& module) {
  return [&module](GraphBuilder& builder, const RewriteSite& site) -> Result<std::vector<ValueId>> {
    const Node& node = site.old.nodes()[site.node];
    if (node.op != &ops::kCall) return std::vector<ValueId>{};
    return inlined(builder, module, node, site.operands);
  };
}

Result<std::vector<ValueId>> copy_into(GraphBuilder& builder, const Module& module, const Graph& graph,
                                       std::span<const ValueId> inputs) {
  std::vector<std::vector<ValueId>> values(graph.nodes().size());
  for (size_t i = 0; i < graph.inputs(); ++i) values[i] = {inputs[i]};
  for (uint32_t i = static_cast<uint32_t>(graph.inputs()); i < graph.nodes().size(); ++i) {
    const Node& node = graph.nodes()[i];
    std::vector<ValueId> operands;
    for (const ValueId& v : node.operands) operands.push_back(values[v.node][v.result]);
    if (node.op == &ops::kCall) {
      HR_TRY(values[i], inlined(builder, module, node, operands));
      continue;
    }
    std::vector<GraphPtr> regions;
    for (const GraphPtr& region : node.regions) {
      HR_TRY(auto fresh, rewrite(region, inline_rule(module)));
      regions.push_back(std::move(fresh));
    }
    builder.set_place(graph, i);
    HR_TRY(const ValueId first, builder.copy(graph, i, std::move(operands), std::move(regions)));
    for (uint32_t r = 0; r < node.results.size(); ++r) values[i].push_back({.node = first.node, .result = r});
  }
  std::vector<ValueId> results;
  for (const ValueId& r : graph.results()) results.push_back(values[r.node][r.result]);
  return results;
}

}  // namespace

Result<Module> inline_calls(const Module& module, const PassOptions&) {
  const bool any =
      std::ranges::any_of(module.functions, [](const Function& f) { return contains(*f.graph, ops::kCall); });
  return any ? rewrite(module, inline_rule(module)) : module;
}

}  // namespace headrace
