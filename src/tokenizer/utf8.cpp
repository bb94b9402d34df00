#include "tokenizer/utf8.h"

#include <algorithm>

namespace headrace {
namespace {

unsigned byte_at(std::string_view text, size_t i) { return static_cast<unsigned char>(text[i]); }

// The range of a character's second byte, which is narrower after some first bytes.
bool allowed_second(unsigned lead, unsigned second) {
  const unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  const unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  return second >= low && second <= high;
}

// Bytes that a character with this first byte has; 0: it cannot be first.
size_t strict_length(unsigned lead) {
  if (lead < 0x80) return 1;
  if (lead < 0xC2 || lead > 0xF4) return 0;
  return lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

}  // namespace

std::optional<Utf8Character> first_character(std::string_view text) {
  if (text.empty()) return std::nullopt;
  const unsigned lead = byte_at(text, 0);
  const size_t length = strict_length(lead);
  if (length == 0 || length > text.size()) return std::nullopt;
  if (length == 1) return Utf8Character{.code = lead, .length = 1};
  if (!allowed_second(lead, byte_at(text, 1))) return std::nullopt;
  char32_t code = lead & (0x7FU >> length);
  for (size_t i = 1; i < length; ++i) {
    const unsigned byte = byte_at(text, i);
    if ((byte & 0xC0U) != 0x80U) return std::nullopt;
    code = code << 6U | (byte & 0x3FU);
  }
  return Utf8Character{.code = code, .length = length};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    if (byte_at(text, 0) < 0x80) {
      text.remove_prefix(1);
      continue;
    }
    const auto character = first_character(text);
    if (!character) return false;
    text.remove_prefix(character->length);
  }
  return true;
}

std::string with_replacements(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto character = first_character(text);
    const size_t length = character ? character->length : 1;
    out += character ? text.substr(0, length) : "\xEF\xBF\xBD";
    text.remove_prefix(length);
  }
  return out;
}

size_t incomplete_tail(std::string_view text) {
  const size_t most = std::min<size_t>(3, text.size());
  for (size_t tail = 1; tail <= most; ++tail) {
    const unsigned byte = byte_at(text, text.size() - tail);
    if ((byte & 0xC0U) == 0x80U) continue;  // a continuation byte: its first byte lies further back
    const size_t length = strict_length(byte);
    const bool hopeful = tail < 2 || allowed_second(byte, byte_at(text, text.size() - tail + 1));
    return length > tail && hopeful ? tail : 0;
  }
  return 0;
}

void append_utf8(std::string& out, char32_t code) {
  const auto tail = [&](unsigned shift) { out += static_cast<char>(0x80U | ((code >> shift) & 0x3FU)); };
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | (code >> 6U));
    tail(0);
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | (code >> 12U));
    tail(6);
    tail(0);
  } else {
    out += static_cast<char>(0xF0U | (code >> 18U));
    tail(12);
    tail(6);
    tail(0);
  }
}

}  // namespace headrace
