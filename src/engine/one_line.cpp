#include "engine/one_line.h"

#include <algorithm>

namespace headrace {

namespace {

constexpr size_t kMaxBytes = 400;
constexpr std::string_view kBlank = " \t\r\n";

}  // namespace

std::string one_line(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlank), text.size()));
  text = text.substr(0, text.find('\n'));
  std::string out(text.substr(0, kMaxBytes));
  std::ranges::replace_if(
      out, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, ' ');
  out.erase(out.find_last_not_of(kBlank) + 1);
  return out;
}

}  // namespace headrace
