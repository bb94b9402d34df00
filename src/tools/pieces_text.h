// Token ids as text, from the tokenizer file of an export.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "tokenizer/tokenizer.h"
#include "weights/manifest.h"

namespace headrace::tools {

class PieceText {
 public:
  // Empty when the export has no tokenizer file. Errors: those of read_text and parse_tokenizer; kVocabulary (a GGUF's
  // file holds another number of pieces than the manifest says).
  [[nodiscard]] static Result<PieceText> open(const std::string& directory, const Manifest& manifest);

  [[nodiscard]] bool known() const { return tokenizer_.has_value(); }
  [[nodiscard]] const std::optional<Tokenizer>& tokenizer() const { return tokenizer_; }
  // The bytes of a token; for an id without a piece its number between angle brackets.
  [[nodiscard]] std::string bytes(int64_t id) const;

 private:
  std::optional<Tokenizer> tokenizer_;
};

}  // namespace headrace::tools
