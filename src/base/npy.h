// NumPy's .npy files: one dense tensor, for inputs and outputs of `run` and for test data.
// Format: https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html (versions 1 to 3).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"

namespace headrace {

// `bytes` are little-endian elements in row-major order, storage_bytes(dtype) each.
struct NpyArray {
  DType dtype{};
  std::vector<int64_t> sizes;
  std::vector<std::byte> bytes;
};

// Errors: kNpy (no .npy file, truncated or trailing bytes, big-endian or unknown element type, column-major order,
// sizes whose product is not the data's). Column-major data is refused rather than turned.
[[nodiscard]] Result<NpyArray> parse_npy(std::span<const std::byte> file);
// The same from a file. Further errors: kFileOpen, kFileRead.
[[nodiscard]] Result<NpyArray> read_npy(const std::string& path);

// Version 1.0, data aligned to 64 bytes. Equal arrays give equal bytes. Precondition: `bytes` holds product(sizes)
// elements. Errors: kNpy when numpy has no such type (bf16).
[[nodiscard]] Result<std::vector<std::byte>> npy_header(DType dtype, std::span<const int64_t> sizes);
// Further errors: kFileOpen, kFileWrite; what was written so far is removed.
[[nodiscard]] Status write_npy(const std::string& path, DType dtype, std::span<const int64_t> sizes,
                               std::span<const std::byte> bytes);

}  // namespace headrace
