// What other programs and libraries say, as part of one of our one-line messages.
#pragma once

#include <string>
#include <string_view>

namespace headrace {

// The first line that is not empty, its control characters as spaces, at most 400 bytes of it.
[[nodiscard]] std::string one_line(std::string_view text);

}  // namespace headrace
