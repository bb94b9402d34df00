#include "ir/lexer.h"

#include <algorithm>
#include <charconv>

namespace headrace::hir {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_hex(char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); }
bool is_word_start(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool is_word(char c) { return is_word_start(c) || is_digit(c) || c == '.'; }
bool is_value(char c) { return is_digit(c) || c == '#'; }
// Loose on purpose: the conversion that follows is strict.
bool is_number(char c) { return is_digit(c) || c == '.' || c == 'e' || c == '+' || c == '-'; }

}  // namespace

void Lexer::skip_blank() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++at_;
    } else if (text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else {
      return;
    }
  }
}

std::string_view Lexer::take(size_t start, bool (*wanted)(char)) {
  while (at_ < text_.size() && wanted(text_[at_])) ++at_;
  return text_.substr(start, at_ - start);
}

Result<Token> Lexer::next() {
  skip_blank();
  const size_t start = at_;
  if (at_ == text_.size()) return Token{.kind = TokenKind::kEnd, .text = {}, .offset = start};
  const char c = text_[at_];
  if (text_.substr(at_, 2) == "->") {
    at_ += 2;
    return Token{.kind = TokenKind::kArrow, .text = "->", .offset = start};
  }
  if (is_word_start(c)) return Token{.kind = TokenKind::kWord, .text = take(start, is_word), .offset = start};
  if (is_digit(c) || (c == '-' && at_ + 1 < text_.size() && is_digit(text_[at_ + 1]))) {
    ++at_;
    return Token{.kind = TokenKind::kNumber, .text = take(start, is_number), .offset = start};
  }
  ++at_;
  if (c == '%') return Token{.kind = TokenKind::kValue, .text = take(start + 1, is_value), .offset = start};
  if (c == '#') return Token{.kind = TokenKind::kBytes, .text = take(start + 1, is_hex), .offset = start};
  if (c == '"') {
    while (at_ < text_.size() && text_[at_] != '"' && text_[at_] != '\n') at_ += text_[at_] == '\\' ? 2 : 1;
    if (at_ >= text_.size() || text_[at_] != '"')
      return fail(ErrorCode::kHirParse, "{}: a string does not end", position(start));
    ++at_;
    return Token{.kind = TokenKind::kString, .text = text_.substr(start + 1, at_ - start - 2), .offset = start};
  }
  if (std::string_view("()[]{}:,=@*+-").find(c) == std::string_view::npos)
    return fail(ErrorCode::kHirParse, "{}: unexpected character 0x{:02x}", position(start),
                static_cast<unsigned>(static_cast<unsigned char>(c)));
  return Token{.kind = TokenKind::kPunctuation, .text = text_.substr(start, 1), .offset = start};
}

std::string Lexer::position(size_t offset) const {
  const std::string_view before = text_.substr(0, offset);
  const size_t line_start = before.rfind('\n') + 1;  // npos + 1 = 0: the first line
  return fmt::format("{}:{}", std::count(before.begin(), before.end(), '\n') + 1, offset - line_start + 1);
}

Result<std::string> unescape(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const char kind = i + 1 < text.size() ? text[i + 1] : '\0';
    if (kind == '"' || kind == '\\') {
      out += kind;
      ++i;
      continue;
    }
    unsigned byte = 0;
    const char* digits = text.data() + i + 2;
    if (kind != 'x' || i + 4 > text.size() || std::from_chars(digits, digits + 2, byte, 16).ptr != digits + 2)
      return fail(ErrorCode::kHirParse, "unknown escape in \"{}\"", text);
    out += static_cast<char>(byte);
    i += 3;
  }
  return out;
}

}  // namespace headrace::hir
