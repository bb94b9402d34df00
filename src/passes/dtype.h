// Stores weights narrower, by role: matmul and embedding weights become options.weights (f32: nothing changes, bf16,
// f16). Graph and recipe change together: the recipe rounds to nearest even, or copies a source that already is of that
// type bit by bit, NaN payloads included; the graph reads the narrow weight. Activations stay f32: `linear` takes a
// narrow weight as the numbers it holds, an `embedding` is followed by a convert, and so is any other use.
//
// Runs first, on the traced module and for all engines alike, so that the interpreter runs what engines run. Errors:
// kPass for a type that is none of the three.
#pragma once

#include "passes/pass.h"

namespace headrace {

[[nodiscard]] Result<Module> narrow_weights(const Module& module, const PassOptions& options);

}  // namespace headrace
