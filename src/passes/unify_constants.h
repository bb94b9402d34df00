// Makes every constant of one value the same node: a literal whose elements are all equal becomes a broadcast of the
// scalar, whatever its shape, and hash-consing does the rest. Scalars rather than splats, because an engine may lay a
// splat of [seq, seq] out in memory while a broadcast fuses. Runs after expand, which brings constants of its own.
#pragma once

#include "passes/pass.h"

namespace headrace {

[[nodiscard]] Result<Module> unify_constants(const Module& module, const PassOptions& options);

}  // namespace headrace
