// JSON from outside: its tree is bounded while it is built, and repeated keys are refused.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string_view>

#include "base/result.h"

namespace headrace {

struct JsonLimits {
  size_t bytes = size_t{64} << 20;
  size_t depth = 16;
  size_t values = size_t{4} << 20;
  // What the tree may cost in memory: a value takes up to 24 times its text. 0: twice the text and 10 MB.
  size_t tree_bytes = 0;
  // Of the root, only these members are kept, where any are named; the others are read, and cost no memory.
  std::span<const std::string_view> only = {};
};

// The root is an object; nothing but white space follows it. Messages start with `place: `. Errors: `code`. Takes time
// in proportion to the text.
[[nodiscard]] Result<nlohmann::json> parse_bounded_json(std::string_view text, ErrorCode code, std::string_view place,
                                                        const JsonLimits& limits = {});

}  // namespace headrace
