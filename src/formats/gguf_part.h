// One GGUF file, as its own header tells it; gguf_split.cpp puts parts together. The format is drawn in gguf.h.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/checkpoint.h"
#include "formats/file.h"
#include "formats/header_reader.h"

namespace headrace {

inline constexpr std::string_view kGgufMagic = "GGUF";

using Metadata = std::map<std::string, MetaValue, std::less<>>;

struct GgufPart {
  SourceFile source;
  Metadata metadata;
  std::vector<TensorEntry> tensors;  // TensorEntry::file is left 0
};

// Messages are prefixed with the file's path. Errors: as open_gguf, without kGgufSplit.
[[nodiscard]] Result<GgufPart> read_gguf_part(const InputFile& file, HeaderHash& hash);

// The two sections of the header, in the order they must be read.
[[nodiscard]] Result<Metadata> read_gguf_metadata(HeaderReader& reader, uint64_t keys);
// `alignment` is a non-zero multiple of 8. Ranges are checked against `file_bytes` and against each other.
[[nodiscard]] Result<std::vector<TensorEntry>> read_gguf_tensors(HeaderReader& reader, uint64_t tensors,
                                                                 uint64_t alignment, uint64_t file_bytes);

}  // namespace headrace
