#include "ir/rewrite.h"

namespace headrace {

namespace {

// One graph's copy in progress.
class Rewriter {
 public:
  Rewriter(const Graph& old, const RewriteRule& rule, const std::function<Type(const Type&)>& retype)
      : old_(old), rule_(rule), retype_(retype), values_(old.nodes().size()) {}

  Result<GraphPtr> run() {
    builder_.reserve(old_.nodes().size());
    for (const Type& type : old_.input_types()) {
      const size_t i = builder_.size();
      builder_.set_place(old_, static_cast<uint32_t>(i));
      values_[i] = {builder_.input(retype_ ? retype_(type) : type)};
    }
    for (uint32_t i = static_cast<uint32_t>(old_.inputs()); i < old_.nodes().size(); ++i) HR_TRY_STATUS(copy(i));
    std::vector<ValueId> results;
    for (const ValueId& r : old_.results()) results.push_back(values_[r.node][r.result]);
    return std::move(builder_).finish(std::move(results));
  }

 private:
  Status copy(uint32_t id) {
    const Node& node = old_.nodes()[id];
    std::vector<ValueId> operands;
    operands.reserve(node.operands.size());
    for (const ValueId& v : node.operands) operands.push_back(values_[v.node][v.result]);
    builder_.set_place(old_, id);
    HR_TRY(values_[id], rule_(builder_, {.old = old_, .node = id, .operands = operands}));
    if (!values_[id].empty()) {
      HR_CHECK(values_[id].size() == node.results.size());
      return {};
    }
    std::vector<GraphPtr> regions;
    for (const GraphPtr& region : node.regions) {
      HR_TRY(auto fresh, rewrite(region, rule_, retype_));
      regions.push_back(std::move(fresh));
    }
    HR_TRY(const ValueId first, builder_.copy(old_, id, std::move(operands), std::move(regions)));
    for (uint32_t r = 0; r < node.results.size(); ++r) values_[id].push_back({.node = first.node, .result = r});
    return {};
  }

  const Graph& old_;
  const RewriteRule& rule_;
  const std::function<Type(const Type&)>& retype_;
  GraphBuilder builder_;
  std::vector<std::vector<ValueId>> values_;  // new values of each old node's results
};

}  // namespace

Result<GraphPtr> rewrite(const GraphPtr& graph, const RewriteRule& rule,
                         const std::function<Type(const Type&)>& retype) {
  HR_TRY(auto fresh, Rewriter(*graph, rule, retype).run());
  return *fresh == *graph ? graph : fresh;
}

Result<Module> rewrite(const Module& module, const RewriteRule& rule, const std::function<Type(const Type&)>& retype) {
  Module out = module;
  for (Function& function : out.functions) {
    auto fresh = rewrite(function.graph, rule, retype);
    if (!fresh) return fail(std::move(fresh).error().in(function.name));
    function.graph = *std::move(fresh);
  }
  return out;
}

}  // namespace headrace
