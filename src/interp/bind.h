// Solves a function's symbols from the sizes of its inputs.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/module.h"

namespace headrace {

// Dtype and sizes of one input.
struct InputShape {
  DType dtype{};
  std::vector<int64_t> sizes;
};

// The value of every symbol that the function's arguments use. Affine dims are solved one unknown at a time: `2*seq +
// 1` with size 7 gives seq = 3; `past + seq` is checked once both are known from other dims. Errors: kInput, all faults
// together, each naming the argument: number of inputs, dtype, rank, sizes that differ from the type or contradict each
// other, symbols that no argument determines or that leave their bounds.
[[nodiscard]] Result<SymbolValues> bind_symbols(const Module& module, const Function& function,
                                                std::span<const InputShape> inputs);

}  // namespace headrace
