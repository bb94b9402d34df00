// Loops in traced code.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "nn/tensor.h"

namespace headrace {

using Tensors = std::vector<Tensor>;

// Repeats `body` on the carried values, whose types it keeps, while `condition` (i1 scalar) holds. Both see the carried
// values and the parameters of the model, nothing else.
[[nodiscard]] Tensors while_loop(const Tensors& carried,
                                 const std::function<Tensor(std::span<const Tensor>)>& condition,
                                 const std::function<Tensors(std::span<const Tensor>)>& body);

}  // namespace headrace
