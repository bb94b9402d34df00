// GPT-2's byte-level alphabet: printable Latin-1 characters stand for themselves, every other byte for the next free
// character from U+0100 on, so that any bytes can be spelt in visible characters (github.com/openai/gpt-2, encoder.py).
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headrace {

// The bytes a piece stands for; empty if a character of it is not in the alphabet.
[[nodiscard]] std::optional<std::string> from_byte_alphabet(std::string_view piece);

// The pieces of single bytes, and so of any bytes.
[[nodiscard]] std::string to_byte_alphabet(std::string_view bytes);

// `<0x0A>` -> byte 10; empty for any other piece.
[[nodiscard]] std::optional<unsigned char> byte_of_piece(std::string_view piece);
// 10 -> `<0x0A>`.
[[nodiscard]] std::string piece_of_byte(unsigned char byte);

}  // namespace headrace
