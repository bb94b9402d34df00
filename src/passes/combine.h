// Several specialisations of one module as one: what a target takes that has all functions in one program.
#pragma once

#include <set>
#include <span>
#include <string>

#include "ir/module.h"

namespace headrace {

// `.128`, or `.16x128` for the values of several symbols in the order of their names; empty without any. Told apart
// from a function's own name by the dot.
[[nodiscard]] std::string specialisation_suffix(const SymbolValues& values);

struct Specialised {
  Module module;
  SymbolValues values;
};

// The functions of a module that its values do not change: public ones whose arguments carry none of the symbols.
[[nodiscard]] std::set<std::string> unchanged_functions(const Module& module, const SymbolValues& values);

// One module with the functions of all, each named with its suffix, calls and private functions included; functions of
// `unchanged` come once, from the first part, under their own names. A single part keeps all names. Precondition:
// specialised from the same module. Errors: kPass when a part has parameters that the first has not.
[[nodiscard]] Result<Module> combine(std::span<const Specialised> parts, const std::set<std::string>& unchanged = {});

}  // namespace headrace
