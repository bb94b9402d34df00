// Where everything lies in a safetensors file about to be written. Layout only: the caller writes the header at offset
// 0 and each tensor's bytes at its offset, in any order and from any thread.
//
//   | u64 header length n | n bytes: JSON, padded with spaces | data |
//
// The format forbids holes between tensors, so alignment comes from the order: the data start is a multiple of 64, and
// a tensor whose length is a multiple of 2^k (2^k <= 64) starts at a multiple of 2^k. So a tensor whose length is a
// multiple of 64 bytes can be mapped by IREE without a copy, and every tensor is aligned to its element size.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"

namespace headrace {

struct OutTensor {
  std::string name;
  DType dtype{};
  std::vector<int64_t> shape;  // row-major; empty = a scalar
  uint64_t length_bytes{};     // must be the shape's elements times the dtype's storage bytes
};

struct SafetensorsLayout {
  std::string header_bytes;             // the length word, the JSON and its padding; size is a multiple of 64
  std::vector<uint64_t> offsets_bytes;  // of each tensor's data from the start of the file, in the order given
  uint64_t total_bytes{};               // of the finished file
};

// The same tensors and metadata give the same bytes. Errors: kSafetensors (a name is repeated, reserved or not UTF-8; a
// length does not fit its shape; the header would exceed the format's 100 MB; sizes overflow).
[[nodiscard]] Result<SafetensorsLayout> layout_safetensors(std::span<const OutTensor> tensors,
                                                           const std::map<std::string, std::string>& metadata);

}  // namespace headrace
