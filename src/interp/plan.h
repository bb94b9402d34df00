// In which order a graph's nodes run and when their values are dropped, for one run (symbols have values).
#pragma once

#include <cstdint>
#include <vector>

#include "ir/graph.h"

namespace headrace {

struct PlanStep {
  uint32_t node{};
  std::vector<Type> types;     // of the node's results; static
  std::vector<uint32_t> drop;  // nodes whose values nothing needs after this step
};

struct Plan {
  std::vector<Type> inputs;  // static
  std::vector<uint32_t> unused_inputs;
  std::vector<PlanStep> steps;
};

// Nodes keep their order, but those without operands stand just before their first user: a parameter that only the last
// layer needs is not loaded (and, for f64, converted) at the start. Errors: kEvaluate when a size is negative or a
// symbol has no value, kMemoryLimit when a number of bytes does not fit 63 bits, each prefixed with the node's place
// and op.
[[nodiscard]] Result<Plan> make_plan(const Graph& graph, const SymbolValues& symbols);

// `blk.3.attn.q: linear`, or `linear` for a node without a place.
[[nodiscard]] std::string title(const Graph& graph, uint32_t node);

}  // namespace headrace
