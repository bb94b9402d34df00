#include "passes/dead_code.h"

#include <unordered_set>

#include "ops/ops.h"

namespace headrace {

namespace {

using Names = std::unordered_set<std::string>;

// Names that `op` nodes of a graph and its regions carry as their first attribute.
void collect(const Graph& graph, const OpDef& op, Names& names) {
  for (const Node& node : graph.nodes()) {
    if (node.op == &op) names.insert(std::get<std::string>(node.attrs[0]));
    for (const GraphPtr& region : node.regions) collect(*region, op, names);
  }
}

Names reachable_functions(const Module& module) {
  Names reached;
  std::vector<const Function*> open;
  for (const Function& f : module.functions)
    if (f.visibility == Visibility::kPublic) open.push_back(&f);
  while (!open.empty()) {
    const Function* f = open.back();
    open.pop_back();
    if (!reached.insert(f->name).second) continue;
    Names callees;
    collect(*f->graph, ops::kCall, callees);
    for (const std::string& callee : callees) open.push_back(module.find(callee));
  }
  return reached;
}

}  // namespace

Result<Module> dead_code(const Module& module, const PassOptions&) {
  Module out = module;
  const Names reached = reachable_functions(module);
  std::erase_if(out.functions, [&](const Function& f) { return !reached.contains(f.name); });

  Names used;
  for (const Function& f : out.functions) collect(*f.graph, ops::kParameter, used);
  std::erase_if(out.parameters, [&](const Parameter& p) { return !used.contains(p.name); });

  std::vector<uint32_t> moved(module.recipes.size());
  std::vector<bool> wanted(module.recipes.size(), false);
  for (const Parameter& p : out.parameters) wanted[p.recipe] = true;
  out.recipes.clear();
  for (size_t i = 0; i < module.recipes.size(); ++i) {
    if (!wanted[i]) continue;
    moved[i] = static_cast<uint32_t>(out.recipes.size());
    out.recipes.push_back(module.recipes[i]);
  }
  for (Parameter& p : out.parameters) p.recipe = moved[p.recipe];
  return out;
}

}  // namespace headrace
