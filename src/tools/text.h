// How values are written for people.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::tools {

// Control characters as \n, \t or \xNN, so that a name from a file stays on its line and cannot steer a terminal; bytes
// that are not UTF-8 as \xNN.
[[nodiscard]] std::string printable(std::string_view text);
// The same between double quotes, with quotes and backslashes escaped.
[[nodiscard]] std::string in_quotes(std::string_view text);
// The text as UTF-8, with U+FFFD in place of what is not: for JSON.
[[nodiscard]] std::string as_utf8(std::string_view text);

// 538,000,000 -> "538 MB": powers of 1000, three digits.
[[nodiscard]] std::string bytes_text(uint64_t bytes);
// 134515008 -> "134.5 M".
[[nodiscard]] std::string count_text(uint64_t count);
// 0.123 -> "0.12 s", 75 -> "1:15", 4000 -> "1:06:40".
[[nodiscard]] std::string duration_text(double seconds);

// Rows in columns two spaces apart. Columns named in `right` are aligned to the right; the last is never padded.
[[nodiscard]] std::string columns(const std::vector<std::vector<std::string>>& rows, std::string_view indent,
                                  const std::vector<size_t>& right = {});

}  // namespace headrace::tools
