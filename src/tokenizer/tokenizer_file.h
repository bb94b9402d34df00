// Where tokenizers come from, and the file that carries one beside an export: the tokenizer.json of the checkpoint, or
// for a GGUF a file of ours (gguf_file.h).
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "formats/checkpoint.h"
#include "tokenizer/tokenizer.h"

namespace headrace {

struct TokenizerFile {
  std::string name;  // "tokenizer.json"; "vocabulary.json" for a file of ours
  std::string text;
};

// The file to write beside an export of this checkpoint. Empty for a checkpoint without a tokenizer, and, with a
// warning that says why, for one whose pieces cannot be spelt. A GGUF's that can be spelt and not encoded is written;
// encode() says what is wrong. Errors: kConfigValue (a GGUF's keys contradict each other), kFileOpen, kFileRead,
// kConfigFile.
[[nodiscard]] Result<std::optional<TokenizerFile>> tokenizer_file(const Checkpoint& checkpoint, Warnings& warnings);

// The tokenizer that such a text, or any tokenizer.json, describes. Messages start with `place: `.
// Errors: kVocabulary (a file of ours is damaged), kConfigFile, kConfigValue, kConfigUnsupported.
[[nodiscard]] Result<Tokenizer> parse_tokenizer(std::string_view text, std::string_view place);

// The same of a file. Errors: kFileOpen, kFileRead; parse_tokenizer's.
[[nodiscard]] Result<Tokenizer> load_tokenizer(const std::string& path);

// The tokenizer of a checkpoint: of a GGUF from its metadata; of a Hugging Face directory from tokenizer.json, and from
// tokenizer_config.json what concerns bos and eos. Errors: kConfigMissing (there is none); those of parse_tokenizer.
[[nodiscard]] Result<Tokenizer> read_tokenizer(const Checkpoint& checkpoint);

}  // namespace headrace
