// Where everything lies in an archive about to be written. Layout only: the caller writes the header at offset 0 and
// each tensor's bytes at its offset, in any order and from any thread; what lies between is zero.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/dtype.h"

namespace headrace {

struct OutTensor {
  std::string name;
  DType dtype{};
  std::vector<int64_t> shape;  // row-major; empty = a scalar
  uint64_t length_bytes{};     // must be the shape's elements times the dtype's storage bytes
};

struct ArchiveLayout {
  std::string header_bytes;
  std::vector<uint64_t> offsets_bytes;  // of each tensor's data from the start of the file, in the order given
  uint64_t total_bytes{};               // of the finished file
};

}  // namespace headrace
