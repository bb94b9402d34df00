// The layout of a safetensors file about to be written.
//
//   | u64 header length n | n bytes: JSON, padded with spaces | data |
//
// The format forbids holes between tensors, so alignment comes from the order: the data start is a multiple of 64, and
// a tensor whose length is a multiple of 2^k (2^k <= 64) starts at a multiple of 2^k. So a tensor whose length is a
// multiple of 64 bytes can be mapped by IREE without a copy, and every tensor is aligned to its element size.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/result.h"
#include "formats/archive_layout.h"

namespace headrace {

// The same tensors and metadata give the same bytes; the header is a multiple of 64 bytes. Errors: kSafetensors (a name
// is repeated, reserved or not UTF-8; a length does not fit its shape; the header would exceed the format's 100 MB;
// sizes overflow).
[[nodiscard]] Result<ArchiveLayout> layout_safetensors(std::span<const OutTensor> tensors,
                                                       const std::map<std::string, std::string>& metadata);

}  // namespace headrace
