// What a checkpoint says about its tokens besides how they are spelt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/checkpoint.h"

namespace headrace {

// GGUF's numbers (tokenizer.ggml.token_type).
enum class PieceType : uint8_t { kNormal = 1, kUnknown = 2, kControl = 3, kUserDefined = 4, kUnused = 5, kByte = 6 };

// What the manifest says about the tokenizer; field by field ManifestTokenizer's.
struct TokenizerFacts {
  std::string kind;  // the container's word, known to us or not
  int64_t vocabulary{};
  std::optional<int64_t> bos = {};
  std::vector<int64_t> eos = {};  // the end of a text, of a turn, of a message: whichever the file names, each once
  std::optional<bool> add_bos = {};
};

// Empty when the checkpoint names no tokenizer (a GGUF without tokenizer.ggml.tokens; a safetensors checkpoint that
// names none of bos, eos and add_bos). A safetensors checkpoint's bos and eos are what generation_config.json says,
// else config.json, else its text_config; null counts as absent, eos may be one id or a list. `rows` are the rows of
// the embedding matrix, below which its ids lie; where they are not given, vocab_size is used. Errors: kConfigValue
// (keys of a wrong type, a special token outside the vocabulary).
[[nodiscard]] Result<std::optional<TokenizerFacts>> tokenizer_facts(const Checkpoint& checkpoint,
                                                                    std::optional<int64_t> rows = {});

}  // namespace headrace
