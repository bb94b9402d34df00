// Drops private functions that nothing calls, and parameters and recipes that no remaining function uses. Dead nodes
// need no pass: a graph never holds any. A recipe goes only when all of its outputs are unused. Runs last.
#pragma once

#include "passes/pass.h"

namespace headrace {

[[nodiscard]] Result<Module> dead_code(const Module& module, const PassOptions& options);

}  // namespace headrace
