// RFC 4648, for bytes inside JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headrace {

[[nodiscard]] std::string to_base64(std::string_view bytes);
// With padding or without. Empty for text with any other character in it.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace headrace
