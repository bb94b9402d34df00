#include "tokenizer/adjacency.h"

#include "tokenizer/utf8.h"

namespace headrace {
namespace {

constexpr unsigned kLogBits = 21;  // 256 KiB; real vocabularies have some 100,000 pairs

// The bytes of the character at `at`, as a number.
uint32_t character_at(std::string_view text, size_t at, size_t& length) {
  length = character_length(text.substr(at));
  uint32_t bytes = 0;
  for (size_t i = 0; i < length; ++i) bytes = bytes << 8U | static_cast<unsigned char>(text[at + i]);
  return bytes;
}

uint64_t place(uint32_t left, uint32_t right) {
  const uint64_t mixed = (uint64_t{left} << 32U | right) * 0x9E3779B97F4A7C15U;
  return (mixed ^ mixed >> 32U) * 0xD6E8FEB86659FD93U >> (64U - kLogBits);
}

}  // namespace

NeighbourSet::NeighbourSet(std::span<const std::string> pieces) : bits_(size_t{1} << (kLogBits - 6U)) {
  for (const std::string& piece : pieces) {
    if (piece.empty()) continue;
    size_t length = 0;
    uint32_t left = character_at(piece, 0, length);
    for (size_t at = length; at < piece.size(); at += length) {
      const uint32_t right = character_at(piece, at, length);
      const uint64_t bit = place(left, right);
      bits_[bit >> 6U] |= uint64_t{1} << (bit & 63U);
      left = right;
    }
  }
}

size_t NeighbourSet::first_part(std::string_view text) const {
  size_t length = 0;
  uint32_t left = character_at(text, 0, length);
  for (size_t at = length; at < text.size(); at += length) {
    const uint32_t right = character_at(text, at, length);
    const uint64_t bit = place(left, right);
    if ((bits_[bit >> 6U] >> (bit & 63U) & 1U) == 0) return at;
    left = right;
  }
  return text.size();
}

}  // namespace headrace
