// A module: the functions of one model over one set of parameters. An immutable value; passes make new ones.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"
#include "ir/recipe.h"

namespace headrace {

enum class Role : uint8_t {
#define HR_ROLE(enumerator, name) enumerator,
#include "ir/role.def"
};

inline constexpr std::string_view kRoleNames[] = {
#define HR_ROLE(enumerator, name) name,
#include "ir/role.def"
};
[[nodiscard]] constexpr std::string_view name(Role role) { return kRoleNames[static_cast<size_t>(role)]; }

// A weight as graphs see it. Its bytes are output `output` of recipes[recipe].
struct Parameter {
  std::string name;  // the checkpoint's tensor name
  Type type;         // static
  Role role{};
  uint32_t recipe{};
  uint32_t output{};
  friend bool operator==(const Parameter&, const Parameter&) = default;
};

// A symbol that shapes may use, with the values it can take at run time.
struct Symbol {
  std::string name;
  int64_t min{1};
  int64_t max{};
  friend bool operator==(const Symbol&, const Symbol&) = default;
};

// Result `result` is state (a cache), the new value of argument `argument`: engines may donate that, or keep both in a
// global. Types are equal but for dims that grow with each call.
struct StatePair {
  static constexpr uint32_t kNew = UINT32_MAX;  // an argument that is none: the function makes the state
  uint32_t argument{};
  uint32_t result{};
  friend bool operator==(const StatePair&, const StatePair&) = default;
};

enum class Visibility : uint8_t { kPublic, kPrivate };  // private: reached by `call` only (outlined blocks)

struct Function {
  std::string name;
  Visibility visibility{};
  std::vector<std::string> arguments;  // one name per graph input
  std::vector<std::string> results;    // one name per graph result
  std::vector<StatePair> state;
  GraphPtr graph;
};

// The symbols that a function's arguments carry.
[[nodiscard]] std::set<std::string> symbols_of(const Function& f);

struct Module {
  std::string name;
  std::vector<Symbol> symbols;
  std::vector<Recipe> recipes;
  std::vector<Parameter> parameters;
  std::vector<Function> functions;

  [[nodiscard]] const Function* find(std::string_view function) const;
  [[nodiscard]] const Parameter* parameter(std::string_view wanted) const;
  friend bool operator==(const Module& a, const Module& b);
};

}  // namespace headrace
