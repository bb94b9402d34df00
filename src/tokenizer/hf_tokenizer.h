// Tokenizers of Hugging Face's tokenizer.json: models BPE (over bytes or characters) and Unigram.
#pragma once

#include <string_view>

#include "base/result.h"
#include "tokenizer/tokenizer.h"

namespace headrace {

// The tokenizer that the text of a tokenizer.json describes. Messages start with `place: `. Its bos() and ends() are
// not known: they stand in other files. Truncation and padding are left to the caller, as transformers does.
// Errors: kConfigFile (no JSON), kConfigValue (it contradicts itself), kConfigUnsupported (by name).
[[nodiscard]] Result<Tokenizer> parse_hf_tokenizer(std::string_view text, std::string_view place);

}  // namespace headrace
