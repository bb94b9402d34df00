// HIR text: Headrace's own form of a module. Prints, parses back and round-trips; it is what module.hir holds, what the
// interpreter runs, what pass tests are written in and what a bug report attaches. Grammar: docs/hir.md.
#pragma once

#include <string>
#include <string_view>

#include "ir/module.h"

namespace headrace {

[[nodiscard]] std::string print(const Module& module);
// One graph as a function body, for messages and tests.
[[nodiscard]] std::string print(const Graph& graph);

}  // namespace headrace
