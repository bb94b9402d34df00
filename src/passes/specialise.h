// Gives the symbols named in options.symbols their values, everywhere: in shapes, attributes and regions. The result
// equals tracing at those sizes, node for node, since forward() never branches on a dim. Symbols that are not named
// stay. Runs first: expansions choose by sizes. Errors: kPass for a value outside the symbol's bounds, an unknown
// symbol or a dim beyond 2^63.
#pragma once

#include "passes/pass.h"

namespace headrace {

[[nodiscard]] Result<Module> specialise(const Module& module, const PassOptions& options);

}  // namespace headrace
