#include "formats/names.h"

#include <algorithm>
#include <cstdint>

namespace headrace {

namespace {

// Length of the UTF-8 sequence that starts with `lead`, 0 if none does.
size_t sequence_length(uint8_t lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead <= 0xDF) return 2;
  if (lead >= 0xE0 && lead <= 0xEF) return 3;
  if (lead >= 0xF0 && lead <= 0xF4) return 4;
  return 0;
}

// Bounds of a sequence's second byte (Unicode 15, table 3-7): no overlong forms, no surrogates, nothing past U+10FFFF.
bool second_byte_fits(uint8_t lead, uint8_t second) {
  const uint8_t low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const uint8_t high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return second >= low && second <= high;
}

bool is_control(std::string_view sequence) {
  const auto first = static_cast<uint8_t>(sequence[0]);
  if (sequence.size() == 1) return first < 0x20 || first == 0x7F;
  return first == 0xC2 && static_cast<uint8_t>(sequence[1]) < 0xA0;  // C1 controls
}

}  // namespace

bool is_key(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c <= '~'; });
}

bool is_tensor_name(std::string_view text) {
  if (text.empty()) return false;
  while (!text.empty()) {
    const size_t length = sequence_length(static_cast<uint8_t>(text[0]));
    if (length == 0 || length > text.size()) return false;
    const std::string_view sequence = text.substr(0, length);
    if (length > 1 && !second_byte_fits(static_cast<uint8_t>(text[0]), static_cast<uint8_t>(text[1]))) return false;
    const bool continues =
        std::ranges::all_of(sequence.substr(1), [](char c) { return (static_cast<uint8_t>(c) & 0xC0U) == 0x80; });
    if (!continues || is_control(sequence)) return false;
    text.remove_prefix(length);
  }
  return true;
}

}  // namespace headrace
