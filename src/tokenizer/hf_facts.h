// tokenizer_facts (pieces.h) of a safetensors checkpoint.
#pragma once

#include "tokenizer/pieces.h"

namespace headrace {

[[nodiscard]] Result<std::optional<TokenizerFacts>> hf_tokenizer_facts(const Checkpoint& checkpoint,
                                                                       std::optional<int64_t> rows);

}  // namespace headrace
