// How passes change graphs: copy node by node, with a chance to put something else in a node's place.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ir/module.h"

namespace headrace {

// What a rule sees: the node of the old graph and its operands in the new one.
struct RewriteSite {
  const Graph& old;
  uint32_t node{};
  std::span<const ValueId> operands;
};

// Returns the values that replace the node's results, or an empty vector to keep the node. Errors stop the rewrite.
using RewriteRule = std::function<Result<std::vector<ValueId>>(GraphBuilder&, const RewriteSite&)>;

// Copies what the results need (dead nodes are not copied), applying `rule` to every node but inputs. Regions of
// nodes that it keeps are rewritten too; a rule that replaces a node with regions sees to them itself. `retype` maps
// input types. Returns `graph` itself when nothing changed.
[[nodiscard]] Result<GraphPtr> rewrite(const GraphPtr& graph, const RewriteRule& rule,
                                       const std::function<Type(const Type&)>& retype = {});

// The same on every function of a module.
[[nodiscard]] Result<Module> rewrite(const Module& module, const RewriteRule& rule,
                                     const std::function<Type(const Type&)>& retype = {});

}  // namespace headrace
