#include "tools/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace headrace::tools {
namespace {

bool is_continuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Bytes of the well-formed UTF-8 sequence at the start of `text`; 0 when there is none.
size_t utf8_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i)
    if (!is_continuation(text[i])) return 0;
  // Overlong forms, surrogates and code points beyond U+10FFFF show in the second byte.
  const auto second = static_cast<unsigned char>(text[1]);
  const bool bad = (lead == 0xE0 && second < 0xA0) || (lead == 0xED && second > 0x9F) ||
                   (lead == 0xF0 && second < 0x90) || (lead == 0xF4 && second > 0x8F);
  return bad ? 0 : length;
}

// Controls of C1 (U+0080 to U+009F), line separators, and marks that turn the direction of what follows: a terminal
// obeys them, or shows a line as another.
bool is_hidden_control(std::string_view sequence) {
  if (sequence.size() == 2) return sequence[0] == '\xC2' && static_cast<unsigned char>(sequence[1]) < 0xA0;
  if (sequence.size() != 3 || sequence[0] != '\xE2') return false;
  const auto second = static_cast<unsigned char>(sequence[1]);
  const auto third = static_cast<unsigned char>(sequence[2]);
  return (second == 0x80 && ((third >= 0x8B && third <= 0x8F) || (third >= 0xA8 && third <= 0xAE))) ||
         (second == 0x81 && third >= 0xA6 && third <= 0xA9);
}

std::string escape(std::string_view text, std::string_view with_backslash) {
  std::string out;
  while (!text.empty()) {
    const char c = text[0];
    const size_t length = utf8_length(text);
    if (c == '\n' || c == '\t') {
      out += c == '\n' ? "\\n" : "\\t";
    } else if (length == 0 || static_cast<unsigned char>(c) < 0x20 || c == '\x7F') {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    } else if (is_hidden_control(text.substr(0, length))) {
      for (const char byte : text.substr(0, length)) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
    } else {
      if (with_backslash.find(c) != std::string_view::npos) out += '\\';
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

// Display columns, near enough: one per code point.
size_t width(std::string_view text) {
  return static_cast<size_t>(std::ranges::count_if(text, [](char c) { return !is_continuation(c); }));
}

std::string scaled(double value, std::string_view unit) {
  static constexpr std::array<std::string_view, 6> kPrefixes = {"", "k", "M", "G", "T", "P"};
  size_t prefix = 0;
  while (value >= 999.5 && prefix + 1 < kPrefixes.size()) {
    value /= 1000;
    ++prefix;
  }
  const int decimals = prefix == 0 ? 0 : value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return fmt::format("{:.{}f} {}{}", value, decimals, kPrefixes[prefix], unit);
}

}  // namespace

std::string printable(std::string_view text) { return escape(text, ""); }
std::string in_quotes(std::string_view text) { return "\"" + escape(text, "\"\\") + "\""; }

std::string as_utf8(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const size_t length = utf8_length(text);
    out += length == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, length);
    text.remove_prefix(std::max<size_t>(length, 1));
  }
  return out;
}

std::string bytes_text(uint64_t bytes) { return scaled(static_cast<double>(bytes), "B"); }

std::string count_text(uint64_t count) {
  std::string out = scaled(static_cast<double>(count), "");
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

std::string duration_text(double seconds) {
  if (seconds < 59.995) return fmt::format("{:.2f} s", seconds);
  const auto whole = std::llround(seconds);
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

std::string columns(const std::vector<std::vector<std::string>>& rows, std::string_view indent,
                    const std::vector<size_t>& right) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width(row[i]));
  }
  std::string out;
  for (const auto& row : rows) {
    out += indent;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string pad(widths[i] - width(row[i]), ' ');
      const bool to_right = std::ranges::find(right, i) != right.end();
      if (i != 0) out += "  ";
      if (to_right) out += pad;
      out += row[i];
      if (!to_right && i + 1 < row.size()) out += pad;
    }
    out += '\n';
  }
  return out;
}

}  // namespace headrace::tools
