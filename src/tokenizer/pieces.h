// A checkpoint's vocabulary, for turning token ids back into text: the pieces as the file spells them, what each one
// is, and the bytes it stands for. Decoding only; turning text into ids is another part's work.
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

struct Vocabulary {
  std::string kind;                 // one of vocabulary_kinds()
  std::vector<std::string> pieces;  // by token id
  std::vector<PieceType> types;     // as many
  friend bool operator==(const Vocabulary&, const Vocabulary&) = default;
};

// What the manifest says about the tokenizer; field by field ManifestTokenizer's.
struct TokenizerFacts {
  std::string kind;  // the container's word, known to us or not
  int64_t vocabulary{};
  std::optional<int64_t> bos = {};
  std::vector<int64_t> eos = {};  // the end of a text, of a turn, of a message: whichever the file names, each once
  std::optional<bool> add_bos = {};
};

// The kinds whose spelling we can turn into bytes: "gpt2" (byte-level alphabet), "llama" (SentencePiece).
[[nodiscard]] std::vector<std::string_view> vocabulary_kinds();

// Both are empty when the checkpoint holds no vocabulary (a GGUF without tokenizer.ggml.tokens; read_vocabulary: any
// safetensors checkpoint, whose pieces lie in tokenizer.json).
// A safetensors checkpoint's bos and eos are what generation_config.json says, else config.json, else its text_config;
// null counts as absent, eos may be one id or a list. `rows` are the rows of the embedding matrix, below which its ids
// lie; where they are not given, vocab_size is used. Empty also when it names none of bos, eos and add_bos. Errors:
// kConfigValue (keys of a wrong type, a special token outside the vocabulary, types that do not match the pieces).
[[nodiscard]] Result<std::optional<TokenizerFacts>> tokenizer_facts(const Checkpoint& checkpoint,
                                                                    std::optional<int64_t> rows = {});
// Also empty, with a warning, for a kind that is not in vocabulary_kinds().
[[nodiscard]] Result<std::optional<Vocabulary>> read_vocabulary(const Checkpoint& checkpoint, Warnings& warnings);

// The bytes a token adds to a text. Normal pieces are decoded by the kind's rule, byte pieces are their byte, all
// others (control tokens among them) stand for their own spelling. A piece may end inside a UTF-8 sequence.
// Precondition (checked): 0 <= id < pieces.size().
[[nodiscard]] std::string piece_bytes(const Vocabulary& vocabulary, int64_t id);

// The export's vocabulary file: JSON with one piece a line. Equal vocabularies give equal bytes.
[[nodiscard]] std::string to_json(const Vocabulary& vocabulary);
// Errors: kVocabulary.
[[nodiscard]] Result<Vocabulary> parse_vocabulary(std::string_view text);

// The text of the vocabulary file to write beside an export of this checkpoint; empty as for read_vocabulary.
[[nodiscard]] Result<std::optional<std::string>> vocabulary_file(const Checkpoint& checkpoint, Warnings& warnings);

}  // namespace headrace
