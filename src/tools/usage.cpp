#include "tools/usage.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>

#include "tools/text.h"

namespace headrace::tools {
namespace {

struct Unit {
  std::string_view name;  // lower case
  double bytes{};
};
constexpr double kKi = 1024;
constexpr Unit kUnits[] = {
    {.name = "", .bytes = 1},
    {.name = "b", .bytes = 1},
    {.name = "k", .bytes = kKi},
    {.name = "kib", .bytes = kKi},
    {.name = "kb", .bytes = 1e3},
    {.name = "m", .bytes = kKi * kKi},
    {.name = "mib", .bytes = kKi * kKi},
    {.name = "mb", .bytes = 1e6},
    {.name = "g", .bytes = kKi * kKi * kKi},
    {.name = "gib", .bytes = kKi * kKi * kKi},
    {.name = "gb", .bytes = 1e9},
    {.name = "t", .bytes = kKi * kKi * kKi * kKi},
    {.name = "tib", .bytes = kKi * kKi * kKi * kKi},
    {.name = "tb", .bytes = 1e12},
};

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> items;
  while (true) {
    const size_t comma = text.find(',');
    items.push_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return items;
    text.remove_prefix(comma + 1);
  }
}

std::string_view trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

int64_t parse_integer(std::string_view option, std::string_view text, int64_t min, int64_t max) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool number = end == text.data() + text.size() && !text.empty();
  if (!number || error == std::errc::invalid_argument)
    wrong_usage("{}: '{}' is not a whole number", option, printable(text));
  if (error != std::errc() || value < min || value > max)
    wrong_usage("{}: {} is out of range, expected {} to {}", option, printable(text), min, max);
  return value;
}

uint64_t parse_size(std::string_view option, std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  const std::string unit = lower(trim(std::string_view(end, static_cast<size_t>(text.data() + text.size() - end))));
  const auto* row = std::ranges::find(kUnits, std::string_view(unit), &Unit::name);
  if (error == std::errc::invalid_argument || row == std::end(kUnits) || !std::isfinite(number))
    wrong_usage("{}: '{}' is not a size; write a number and a unit, as in 512MiB, 2G or 500MB", option,
                printable(text));
  const double bytes = number * row->bytes;
  if (error != std::errc() || bytes < 1 || bytes >= 0x1p63)
    wrong_usage("{}: '{}' is out of range, expected at least one byte and less than 2^63", option, printable(text));
  return static_cast<uint64_t>(bytes);
}

std::vector<std::string> parse_list(std::string_view option, std::string_view text) {
  std::vector<std::string> out;
  for (const std::string_view item : split(text)) {
    if (trim(item).empty()) wrong_usage("{}: '{}' has an empty item", option, printable(text));
    out.emplace_back(trim(item));
  }
  return out;
}

std::vector<int64_t> parse_tokens(std::string_view text, std::string_view option) {
  std::vector<int64_t> ids;
  if (trim(text).empty()) return ids;
  for (const std::string_view item : split(text)) {
    if (trim(item).empty())
      wrong_usage("{}: item {} is empty; write ids with commas between, as in 504,3575", option, ids.size() + 1);
    ids.push_back(
        parse_integer(option, trim(item), std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()));
  }
  return ids;
}

}  // namespace headrace::tools
