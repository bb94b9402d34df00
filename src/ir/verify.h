// Checks that a module is well formed; run after every pass. All faults are reported together. Checks: names unique;
// arguments, results and state pairs within range, no side in two pairs; static dims not negative; operands before
// uses; parameters used by `parameter` nodes exist with that type; calls name functions with matching signatures,
// without recursion; symbols declared; recipe links in range; a public function has at least one op and one result.
// Types of nodes are not inferred again: GraphBuilder, which alone makes graphs, infers each. Errors: kVerify.
#pragma once

#include "ir/module.h"

namespace headrace {

[[nodiscard]] Status verify(const Module& module);

}  // namespace headrace
