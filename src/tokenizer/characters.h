// Properties of characters, and Unicode's normal forms, by utf8proc. All texts here are UTF-8.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

[[nodiscard]] bool is_white_space(char32_t code);  // Unicode's White_Space
[[nodiscard]] bool starts_with_word_character(std::string_view text);
[[nodiscard]] bool ends_with_word_character(std::string_view text);
// Where the white space at the end of the text starts.
[[nodiscard]] size_t white_space_start(std::string_view text);
// Bytes of white space at the start of the text.
[[nodiscard]] size_t white_space_length(std::string_view text);

enum class NormalForm : uint8_t { kNfc, kNfd, kNfkc, kNfkd };
[[nodiscard]] std::string normalized(std::string_view text, NormalForm form);

// Character by character, without regard to context.
[[nodiscard]] std::string lowercased(std::string_view text);
[[nodiscard]] std::string without_marks(std::string_view text);

// Bytes of the first extended grapheme cluster. Precondition: text is not empty.
[[nodiscard]] size_t grapheme_length(std::string_view text);

}  // namespace headrace
