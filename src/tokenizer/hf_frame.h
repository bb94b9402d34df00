// The tokens around a text, where tokenizer_config.json has a say in them.
//
// For the classes LlamaTokenizer, GemmaTokenizer and CodeLlamaTokenizer (Fast or not), transformers builds the frame
// from add_bos_token (default true) and add_eos_token (default false) and does not ask tokenizer.json; for all others
// tokenizer.json's post_processor decides, and flags that say something else are a contradiction.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/checkpoint.h"
#include "tokenizer/tokenizer.h"

namespace headrace {

struct HfFrame {
  bool decides = false;  // the flags decide
  std::optional<bool> add_bos = {}, add_eos = {};
  std::string bos = {}, eos = {};  // the tokens, as spelt; empty if the file names none
};

// From a checkpoint's tokenizer_config.json. Errors: kConfigValue.
[[nodiscard]] Result<HfFrame> hf_frame(const Checkpoint& checkpoint);

}  // namespace headrace
