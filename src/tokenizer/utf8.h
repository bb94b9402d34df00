// UTF-8, where tokenizers look at it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

// Bytes of a character by its first byte's upper half alone, whatever follows: 1 to 4, and 1 for a continuation byte.
[[nodiscard]] inline size_t utf8_length(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  if (byte < 0xC0) return 1;
  if (byte < 0xE0) return 2;
  return byte < 0xF0 ? 3 : 4;
}

struct Utf8Character {
  char32_t code{};
  size_t length{};  // bytes
};

// The character at the start of `text`; empty if there is none: no text, or bytes that Unicode (table 3-7) does not
// allow, such as overlong forms and surrogates.
[[nodiscard]] std::optional<Utf8Character> first_character(std::string_view text);

// Bytes of the character at the start of `text`, and 1 where there is none. Precondition: text is not empty.
[[nodiscard]] inline size_t character_length(std::string_view text) {
  if (static_cast<unsigned char>(text.front()) < 0x80) return 1;
  const auto character = first_character(text);
  return character ? character->length : 1;
}

[[nodiscard]] bool is_utf8(std::string_view text);

// The text with U+FFFD in place of each byte that is no part of a character.
[[nodiscard]] std::string with_replacements(std::string_view text);

// Bytes at the end of `text` that begin a character and do not complete it: 0 to 3.
[[nodiscard]] size_t incomplete_tail(std::string_view text);

void append_utf8(std::string& out, char32_t code);

}  // namespace headrace
