// Token ids as text, from the vocabulary file of an export.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "tokenizer/pieces.h"
#include "weights/manifest.h"

namespace headrace::tools {

class PieceText {
 public:
  // Empty when the export has no vocabulary file. Errors: those of read_text; kVocabulary (also when the file holds
  // another number of pieces than the manifest says).
  [[nodiscard]] static Result<PieceText> open(const std::string& directory, const Manifest& manifest);

  [[nodiscard]] bool known() const { return vocabulary_.has_value(); }
  // The bytes of a token; for an id without a piece its number between angle brackets.
  [[nodiscard]] std::string bytes(int64_t id) const;

 private:
  std::optional<Vocabulary> vocabulary_;
};

}  // namespace headrace::tools
