// The values of one tensor of a checkpoint, decoded in a stream: memory does not depend on its size.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "formats/checkpoint.h"

namespace headrace {

inline constexpr size_t kHistogramBins = 24;

struct TensorStatistics {
  std::string name;
  std::string type;            // block type
  std::vector<int64_t> shape;  // outermost first
  std::string file;            // that holds it
  uint64_t offset_bytes{};     // in that file
  uint64_t length_bytes{};
  uint64_t elements{};
  // Of the decoded values: `min` to `rms` over the finite ones, 0 without any.
  double min{}, max{}, mean{}, rms{};
  uint64_t zeros{}, nans{}, infinities{};
  std::vector<uint64_t> histogram;  // finite values in kHistogramBins equal parts of [min, max]; the last holds max
};

// Reads and decodes the tensor twice. Errors: kInput (no such tensor), kBlockType (cannot be decoded), kFileOpen,
// kFileRead.
[[nodiscard]] Result<TensorStatistics> tensor_statistics(const Checkpoint& checkpoint, const std::string& name);

}  // namespace headrace
