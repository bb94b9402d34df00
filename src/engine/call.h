// One call of any function of an export, on host tensors: what `headrace run` does.
#pragma once

#include <string_view>
#include <vector>

#include "engine/engine.h"

namespace headrace {

// Checks the inputs (all arguments, in the function's order), picks the smallest program that holds them, pads what the
// program has longer on the right with zeros and cuts the results to the sizes asked for. Functions with caches are
// padded only where they take a `length`. Of a program that keeps its caches inside, the inputs for them are not used
// and no results given for them.
// Errors: kInput, one line: no such function, number, dtype, rank or sizes of inputs, no program of these sizes, an id
// of `tokens` outside the vocabulary, a `length` that does not fit; kCacheFull; those of Engine::run and read.
template <class F>
[[nodiscard]] Result<std::vector<HostTensor<F>>> call(Engine<F>& engine, std::string_view function,
                                                      std::vector<HostTensor<F>> inputs);

}  // namespace headrace
