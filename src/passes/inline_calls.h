// Puts the bodies of private functions in the places of their calls; afterwards no `call` is left. Private functions
// stay until dead-code drops them. Needs verified input (calls do not recurse). Places of the copied nodes are the
// callee's.
#pragma once

#include "passes/pass.h"

namespace headrace {

[[nodiscard]] Result<Module> inline_calls(const Module& module, const PassOptions& options);

}  // namespace headrace
