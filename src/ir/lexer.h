// Tokens of HIR text. Private to the parser.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headrace::hir {

enum class TokenKind : uint8_t { kEnd, kWord, kNumber, kString, kValue, kBytes, kPunctuation, kArrow };

struct Token {
  TokenKind kind{};
  std::string_view text;  // of kValue and kBytes without the leading % or #; of kString still escaped, without quotes
  size_t offset{};        // of its first character in the text
};

// Splits the text lazily; never looks further than one token.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}
  // Errors: kHirParse for a character that starts no token or an unterminated string.
  [[nodiscard]] Result<Token> next();
  // `line:column` of an offset, both from 1. Counts the lines before it.
  [[nodiscard]] std::string position(size_t offset) const;

 private:
  void skip_blank();
  [[nodiscard]] std::string_view take(size_t start, bool (*wanted)(char));
  std::string_view text_;
  size_t at_ = 0;
};

// Undoes the printer's escapes. Errors: kHirParse for an unknown escape.
[[nodiscard]] Result<std::string> unescape(std::string_view text);

}  // namespace headrace::hir
