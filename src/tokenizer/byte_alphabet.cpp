#include "tokenizer/byte_alphabet.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

#include "tokenizer/utf8.h"

namespace headrace {
namespace {

constexpr size_t kAlphabetEnd = 0x144;  // every character of it lies below

struct Alphabet {
  std::array<char16_t, 256> character_of{};
  std::array<int, kAlphabetEnd> byte_of{};
};

constexpr Alphabet kAlphabet = [] {
  Alphabet alphabet;
  alphabet.byte_of.fill(-1);
  char16_t next = 0x100;
  for (unsigned b = 0; b < 256; ++b) {
    const bool itself = (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    const char16_t character = itself ? static_cast<char16_t>(b) : next++;
    alphabet.character_of[b] = character;
    alphabet.byte_of[character] = static_cast<int>(b);
  }
  return alphabet;
}();

}  // namespace

std::optional<std::string> from_byte_alphabet(std::string_view piece) {
  std::string out;
  while (!piece.empty()) {
    const auto character = first_character(piece);
    if (!character || character->code >= kAlphabetEnd || kAlphabet.byte_of[character->code] < 0) return std::nullopt;
    out += static_cast<char>(kAlphabet.byte_of[character->code]);
    piece.remove_prefix(character->length);
  }
  return out;
}

std::string to_byte_alphabet(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) append_utf8(out, kAlphabet.character_of[static_cast<unsigned char>(byte)]);
  return out;
}

std::optional<unsigned char> byte_of_piece(std::string_view piece) {
  if (piece.size() != 6 || !piece.starts_with("<0x") || piece.back() != '>') return std::nullopt;
  unsigned value = 0;
  const auto [end, error] = std::from_chars(piece.data() + 3, piece.data() + 5, value, 16);
  if (error != std::errc() || end != piece.data() + 5) return std::nullopt;
  return static_cast<unsigned char>(value);
}

std::string piece_of_byte(unsigned char byte) { return fmt::format("<0x{:02X}>", byte); }

}  // namespace headrace
