// Which strings of a file may serve as keys and tensor names. They end up in one-line messages, JSON and MLIR symbols.
#pragma once

#include <string_view>

namespace headrace {

// Printable ASCII without blanks, not empty: what GGUF asks of metadata keys.
[[nodiscard]] bool is_key(std::string_view text);
// Well-formed UTF-8, not empty, without control characters; quotes, backslashes and blanks are fine.
[[nodiscard]] bool is_tensor_name(std::string_view text);

}  // namespace headrace
