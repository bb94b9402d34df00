// The layout of an IREE parameter archive (IRPA, version 0) about to be written, as IREE's
// runtime/src/iree/schemas/parameter_archive.h defines it:
//
//   | header, 88 bytes | entries, one every 80 bytes | names | data, each tensor at a multiple of 64 |
//
// All numbers are little-endian. An entry of type data holds a name and a byte range; the format knows no dtype and no
// shape, which the manifest has.
#pragma once

#include <span>

#include "base/result.h"
#include "formats/archive_layout.h"

namespace headrace {

inline constexpr uint64_t kIrpaAlignment = 64;  // IREE maps a tensor without a copy where its offset is a multiple

// The same tensors give the same bytes. Errors: kIrpa (a name is repeated or empty; sizes overflow).
[[nodiscard]] Result<ArchiveLayout> layout_irpa(std::span<const OutTensor> tensors);

struct IrpaEntry {
  std::string name;
  uint64_t offset_bytes{};  // from the start of the file
  uint64_t length_bytes{};
};

// The entries of an archive such as layout_irpa lays out: one header, data entries only. `bytes` starts at the file's
// start and holds at least `irpa_header_bytes(bytes)`. Errors: kIrpa, for anything else.
[[nodiscard]] Result<std::vector<IrpaEntry>> read_irpa(std::string_view bytes, uint64_t file_bytes);

// How many bytes from the start read_irpa needs, from the first kIrpaPrefixBytes. Errors: kIrpa when they are no
// header, or it reaches beyond the file.
inline constexpr uint64_t kIrpaPrefixBytes = 88;
[[nodiscard]] Result<uint64_t> irpa_header_bytes(std::string_view prefix, uint64_t file_bytes);

}  // namespace headrace
