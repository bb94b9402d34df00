// Where tokenizers come from, and the file that carries one beside an export.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/checkpoint.h"
#include "tokenizer/tokenizer.h"

namespace headrace {

// The tokenizer of a checkpoint: of a GGUF from its metadata. Errors: kConfigMissing (there is none), kConfigValue
// (it is damaged).
[[nodiscard]] Result<Tokenizer> read_tokenizer(const Checkpoint& checkpoint);

}  // namespace headrace
