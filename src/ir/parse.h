// Reads HIR text (ir/print.h, docs/hir.md). The text is hostile input: nesting is bounded, every reference is checked,
// types are inferred again and compared with those written. Errors: kHirParse `line:column: ...`; every value that does
// not link is listed at once.
#pragma once

#include <string_view>

#include "ir/module.h"

namespace headrace {

[[nodiscard]] Result<Module> parse_module(std::string_view text, OpLookup lookup);

}  // namespace headrace
