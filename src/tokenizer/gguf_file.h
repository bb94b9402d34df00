// The tokenizer of a GGUF as a file beside an export: JSON with one piece or merge a line.
//
//   {"format": "headrace.tokenizer", "version": 1, "model": "gpt2", "pre": "smollm", "bos": 1, ..., "add_bos": false,
//   ...,
//    "charsmap": base64, "pieces": [...], "types": [...], "scores": [...], "merges": ["a b", ...]}
//
// What the GGUF does not have is absent. A piece or merge that is not UTF-8, which JSON cannot spell, is an array of
// its bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "tokenizer/gguf_fields.h"

namespace headrace {

// Equal fields give equal bytes.
[[nodiscard]] std::string to_tokenizer_file(const GgufTokenizerFields& fields);
// Messages start with `place: `. Errors: kVocabulary.
[[nodiscard]] Result<GgufTokenizerFields> parse_tokenizer_file(std::string_view text, std::string_view place);

}  // namespace headrace
