// What a pass is: a function from module to module. The driver verifies the module after each (pipeline.h).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "ir/module.h"

namespace headrace {

enum class Engine : uint8_t { kIree, kXla };
inline constexpr std::string_view kEngineNames[] = {"iree", "xla"};
[[nodiscard]] constexpr std::string_view name(Engine engine) { return kEngineNames[static_cast<size_t>(engine)]; }

struct PassOptions {
  Engine engine{};              // not for passes of the model stage, which serve all engines
  SymbolValues symbols = {};    // for specialise; symbols that are not named stay
  DType weights = DType::kF32;  // for dtype: what matmul and embedding weights are stored as
};

using PassFunction = Result<Module> (*)(const Module&, const PassOptions&);

struct PassInfo {
  std::string_view name;
  PassFunction run{};
  std::string_view summary;
};

[[nodiscard]] std::span<const PassInfo> pass_table();
// Null when there is no pass of that name.
[[nodiscard]] const PassInfo* find_pass(std::string_view name);

}  // namespace headrace
