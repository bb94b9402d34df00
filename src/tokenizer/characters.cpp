#include "tokenizer/characters.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <new>

#include "tokenizer/utf8.h"

namespace headrace {
namespace {

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

utf8proc_category_t category(char32_t code) { return utf8proc_category(static_cast<utf8proc_int32_t>(code)); }

bool is_mark(char32_t code) {
  const auto kind = category(code);
  return kind == UTF8PROC_CATEGORY_MN || kind == UTF8PROC_CATEGORY_MC || kind == UTF8PROC_CATEGORY_ME;
}

bool is_word_character(char32_t code) {
  switch (category(code)) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_LO:
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_MC:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_ND:
    case UTF8PROC_CATEGORY_NL:
    case UTF8PROC_CATEGORY_PC:
      return true;
    default:
      return false;
  }
}

// The last character of the text, and where it starts.
std::pair<char32_t, size_t> last_character(std::string_view text) {
  size_t at = text.size() - 1;
  while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xC0U) == 0x80U) --at;
  const auto character = first_character(text.substr(at));
  return {character ? character->code : U'\0', at};
}

// Calls `change(code, out)` for each character.
template <class Change>
std::string changed(std::string_view text, const Change& change) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const auto character = first_character(text);
    if (!character) break;
    change(character->code, out);
    text.remove_prefix(character->length);
  }
  return out;
}

}  // namespace

bool is_white_space(char32_t code) {
  if (code < 0x80) return code == U' ' || (code >= 0x09 && code <= 0x0D);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
         code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool starts_with_word_character(std::string_view text) {
  const auto character = first_character(text);
  return character && is_word_character(character->code);
}

bool ends_with_word_character(std::string_view text) {
  return !text.empty() && is_word_character(last_character(text).first);
}

size_t white_space_start(std::string_view text) {
  while (!text.empty()) {
    const auto [code, at] = last_character(text);
    if (!is_white_space(code)) break;
    text = text.substr(0, at);
  }
  return text.size();
}

size_t white_space_length(std::string_view text) {
  size_t length = 0;
  while (const auto character = first_character(text.substr(length))) {
    if (!is_white_space(character->code)) break;
    length += character->length;
  }
  return length;
}

std::string normalized(std::string_view text, NormalForm form) {
  if (is_ascii(text)) return std::string(text);
  const bool composed = form == NormalForm::kNfc || form == NormalForm::kNfkc;
  const bool compatible = form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  const auto options = static_cast<utf8proc_option_t>(
      static_cast<unsigned>(UTF8PROC_STABLE) | static_cast<unsigned>(composed ? UTF8PROC_COMPOSE : UTF8PROC_DECOMPOSE) |
      (compatible ? static_cast<unsigned>(UTF8PROC_COMPAT) : 0U));
  utf8proc_uint8_t* result = nullptr;
  const auto size = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                 static_cast<utf8proc_ssize_t>(text.size()), &result, options);
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned(result, &std::free);
  if (size == UTF8PROC_ERROR_NOMEM) throw std::bad_alloc();
  return size < 0 ? std::string(text) : std::string(reinterpret_cast<const char*>(result), static_cast<size_t>(size));
}

std::string lowercased(std::string_view text) {
  return changed(text, [](char32_t code, std::string& out) {
    constexpr char32_t kDottedCapitalI = 0x130;  // the one character that becomes two
    if (code == kDottedCapitalI)
      out += "i\xCC\x87";
    else
      append_utf8(out, static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(code))));
  });
}

std::string without_marks(std::string_view text) {
  return changed(text, [](char32_t code, std::string& out) {
    if (!is_mark(code)) append_utf8(out, code);
  });
}

size_t grapheme_length(std::string_view text) {
  auto previous = first_character(text);
  size_t length = previous ? previous->length : 1;
  utf8proc_int32_t state = 0;
  while (previous) {
    const auto next = first_character(text.substr(length));
    if (!next || utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(previous->code),
                                                  static_cast<utf8proc_int32_t>(next->code), &state))
      break;
    length += next->length;
    previous = next;
  }
  return length;
}

}  // namespace headrace
