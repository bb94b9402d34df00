// The JSON of a safetensors header, read from events: no tree of it is ever built.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/checkpoint.h"

namespace headrace {

// The tensors in the order of the text. Offsets count from the start of the data, of which there are `data_bytes`;
// ranges lie in it and fit their shapes. Neither repeated names nor overlaps are looked for.
// Errors: kSafetensors, kBlockType (an unknown dtype).
[[nodiscard]] Result<std::vector<TensorEntry>> parse_safetensors_header(std::string_view json, uint64_t data_bytes);

}  // namespace headrace
