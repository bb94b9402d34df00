// What turns text into an export's tokens and back: tokenizer and chat templates, from the export or from a checkpoint.
#pragma once

#include <optional>
#include <string>

#include "tokenizer/chat_template.h"
#include "tokenizer/tokenizer.h"
#include "weights/manifest.h"

namespace headrace::tools {

struct TextSource {
  std::optional<Tokenizer> tokenizer;
  ChatTemplates chat;
};

// From the files that the manifest names; nothing where it names none. Errors: those of read_text, parse_tokenizer and
// parse_chat_file.
[[nodiscard]] Result<TextSource> export_text_source(const std::string& directory, const Manifest& manifest);
// Errors: those of open_checkpoint, read_tokenizer and read_chat_templates.
[[nodiscard]] Result<TextSource> checkpoint_text_source(const std::string& model, Warnings& warnings);

}  // namespace headrace::tools
