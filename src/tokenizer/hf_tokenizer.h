// Tokenizers of Hugging Face's tokenizer.json: models BPE (over bytes or characters) and Unigram.
#pragma once

#include <string_view>

#include "base/result.h"
#include "tokenizer/hf_frame.h"
#include "tokenizer/tokenizer.h"

namespace headrace {

// The tokenizer that the text of a tokenizer.json describes, with the frame that tokenizer_config.json wants. Messages
// start with `place: `. Its ends() are not known, and its bos() only from the frame: they stand in other files.
// Truncation and padding are left to the caller, as transformers does.
// Errors: kConfigFile (no JSON), kConfigValue (it contradicts itself or the frame), kConfigUnsupported (by name).
[[nodiscard]] Result<Tokenizer> parse_hf_tokenizer(std::string_view text, std::string_view place, const HfFrame& frame);

// The text of a tokenizer.json that needs no tokenizer_config.json: the same text where its frame is the wanted one,
// else with a post_processor that makes it. Errors: parse_hf_tokenizer's.
[[nodiscard]] Result<std::string> frame_hf_tokenizer(std::string text, std::string_view place, const HfFrame& frame);

}  // namespace headrace
