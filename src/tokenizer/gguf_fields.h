// The tokenizer keys of a GGUF (tokenizer.ggml.*), as they stand there, and the tokenizer that they describe.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "formats/checkpoint.h"
#include "tokenizer/pieces.h"
#include "tokenizer/tokenizer.h"

namespace headrace {

struct GgufTokenizerFields {
  std::string model = {};               // gpt2, llama, t5, ...
  std::optional<std::string> pre = {};  // a name of pretokenizers.def, or another
  std::vector<std::string> pieces = {};
  std::vector<PieceType> types = {};     // as many
  std::vector<float> scores = {};        // as many, or none; gpt2 has no use for them
  std::vector<std::string> merges = {};  // two pieces with a space between
  std::string charsmap = {};             // bytes of precompiled_charsmap
  std::optional<int64_t> bos = {}, eos = {}, eot = {}, eom = {}, unknown = {};  // below the number of pieces
  std::optional<bool> add_bos = {}, add_eos = {}, add_space_prefix = {}, remove_extra_whitespaces = {};
  friend bool operator==(const GgufTokenizerFields&, const GgufTokenizerFields&) = default;
};

// The largest vocabularies hold 262,144 pieces. Copies of more would cost more memory than the file justifies.
inline constexpr size_t kMostPieces = 400'000;

// Empty without tokenizer.ggml.tokens. Errors: kConfigValue (a key of a wrong type, lists whose lengths disagree, a
// special token outside the vocabulary, more pieces than any vocabulary has).
[[nodiscard]] Result<std::optional<GgufTokenizerFields>> gguf_tokenizer_fields(const Checkpoint& checkpoint);

// What cannot be encoded makes a tokenizer that only decodes (Tokenizer::cannot_encode): a kind or pre-tokenizer that
// is not known by name, merges or scores that are absent or do not fit the pieces, a piece that stands twice.
[[nodiscard]] Tokenizer make_gguf_tokenizer(GgufTokenizerFields fields);

// gpt2, llama, t5: the kinds whose pieces can be spelt.
[[nodiscard]] std::vector<std::string_view> gguf_tokenizer_kinds();
// The names of pretokenizers.def.
[[nodiscard]] std::vector<std::string_view> pretokenizer_names();

}  // namespace headrace
