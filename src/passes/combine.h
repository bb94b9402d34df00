// Several specialisations of one module as one: what a target takes that has all functions in one program.
#pragma once

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

// One module with the functions of all, each named with its suffix, calls and private functions included. A single one
// keeps its names. Precondition: specialised from the same module. Errors: kPass when their parameters differ.
[[nodiscard]] Result<Module> combine(std::span<const Specialised> parts);

}  // namespace headrace
