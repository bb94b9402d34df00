// The layout of a GGUF version 3 file about to be written (gguf.h draws the format). Layout only: the caller writes the
// header at offset 0 and each tensor's bytes at its offset; what lies between is zero.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/checkpoint.h"

namespace headrace {

struct OutGgufTensor {
  std::string name;
  BlockType type{};
  std::vector<int64_t> shape;  // row-major, outermost first; the innermost holds whole blocks
};

struct GgufLayout {
  std::string header_bytes;
  std::vector<uint64_t> offsets_bytes;  // of each tensor's data from the start of the file, multiples of 32
  std::vector<uint64_t> lengths_bytes;
  uint64_t total_bytes{};
};

// Unsigned integers are written as u32 where they fit, else u64, signed ones as i32 or i64, floats as f32 where nothing
// is lost, else f64. The same input gives the same bytes. Errors: kGgufTensor (a row that is no whole number of blocks,
// a size that overflows, a repeated name), kGgufMetadata (an empty value).
[[nodiscard]] Result<GgufLayout> layout_gguf(const std::map<std::string, MetaValue, std::less<>>& metadata,
                                             std::span<const OutGgufTensor> tensors);

}  // namespace headrace
