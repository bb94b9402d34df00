// The JSON files that lie beside safetensors, read whole.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "formats/header_reader.h"

namespace headrace {

// The text of a file that should hold a JSON object; `hash` takes it in. Errors: kFileOpen, kFileRead; `code` for a
// file of more than `most_bytes`, before it is read, and for what is no JSON but a thing with a name (an LFS pointer).
[[nodiscard]] Result<std::string> read_json_file(const std::string& path, uint64_t most_bytes, ErrorCode code,
                                                 HeaderHash& hash);

}  // namespace headrace
