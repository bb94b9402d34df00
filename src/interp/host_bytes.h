// Host tensors from and to the little-endian bytes of files.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ops/eval.h"

namespace headrace {

// Converts every element; exact except f64 bytes into F = float, which round. A bool byte is 0 or 1 (any other counts
// as 1). Precondition: `bytes` holds product(sizes) elements of storage_bytes(dtype).
template <class F>
[[nodiscard]] HostTensor<F> from_bytes(DType dtype, std::vector<int64_t> sizes, std::span<const std::byte> bytes);

// The same without a copy where the bytes already are what the tensor holds (f32 for F = float, f64 for F = double,
// aligned): a view that keeps `owner` alive.
template <class F>
[[nodiscard]] HostTensor<F> view_bytes(DType dtype, std::vector<int64_t> sizes, std::span<const std::byte> bytes,
                                       const std::shared_ptr<const void>& owner);

// The elements as `dtype`. Floats round to nearest even; a float tensor gives any float dtype (f64 keeps all that
// F = double computed), others their own only. Precondition: is_float(dtype) == is_float(tensor.dtype()).
template <class F>
[[nodiscard]] std::vector<std::byte> to_bytes(const HostTensor<F>& tensor, DType dtype);

// A .npy file as a tensor, and back. Floats are written as F (bf16 has no .npy type). Errors: those of base/npy.h.
template <class F>
[[nodiscard]] Result<HostTensor<F>> load_npy(const std::string& path);
template <class F>
[[nodiscard]] Status save_npy(const std::string& path, const HostTensor<F>& tensor);

}  // namespace headrace
