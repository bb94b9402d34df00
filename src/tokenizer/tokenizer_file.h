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

// The text of the file to write beside an export of this checkpoint; empty, with a warning that says why where there is
// something to say, for a checkpoint without a tokenizer, or with a tokenizer.json that is not understood.
// Errors: kConfigValue (a GGUF's keys contradict each other), kFileOpen, kFileRead.
[[nodiscard]] Result<std::optional<std::string>> tokenizer_text(const Checkpoint& checkpoint, Warnings& warnings);

// The tokenizer that such a text, or any tokenizer.json, describes. Messages start with `place: `.
// Errors: kVocabulary (a file of ours is damaged), kConfigFile, kConfigValue, kConfigUnsupported.
[[nodiscard]] Result<Tokenizer> parse_tokenizer(std::string_view text, std::string_view place);

// The same of a file. Errors: kFileOpen, kFileRead; parse_tokenizer's.
[[nodiscard]] Result<Tokenizer> load_tokenizer(const std::string& path);

// The tokenizer of a checkpoint: of a GGUF from its metadata; of a Hugging Face directory from tokenizer.json, and from
// tokenizer_config.json what concerns bos and eos. Errors: kConfigMissing (there is none); those of parse_tokenizer.
[[nodiscard]] Result<Tokenizer> read_tokenizer(const Checkpoint& checkpoint);

}  // namespace headrace
