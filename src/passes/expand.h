// Spells structured ops in core ops. Which spelling is chosen late, from the table expansions.def: engine, form of the
// weight and number of rows decide, by measured ratios. Runs after specialise; afterwards no structured op is left.
// Errors: kNoExpansion naming the op, its place and what was asked for.
#pragma once

#include <span>
#include <string_view>

#include "ir/rewrite.h"
#include "passes/pass.h"

namespace headrace {

// How an op's weight is stored. Packed forms are rows to come.
enum class WeightForm : uint8_t { kNone, kF32, kBF16, kF16 };
inline constexpr std::string_view kWeightFormNames[] = {"none", "f32", "bf16", "f16"};

// How many rows of activations meet the weight: one (decode), few (up to kFewRows), many (prefill, score), or a number
// that only the call tells.
enum class Rows : uint8_t { kOne, kFew, kMany, kSymbolic };
inline constexpr std::string_view kRowsNames[] = {"one", "few", "many", "symbolic"};
inline constexpr int64_t kFewRows = 16;

using ExpandFunction = Result<std::vector<ValueId>> (*)(GraphBuilder&, const RewriteSite&);

struct Expansion {
  std::string_view op;
  Engine engine{};
  WeightForm form{};
  Rows rows{};
  std::string_view name;  // of the spelling
  ExpandFunction expand{};
  double ratio{};             // measured time relative to the fastest spelling known; 1 is the fastest
  std::string_view measured;  // engine and version, by bench/forms
};

// All rows; of those that match, the one with the smallest ratio is taken, the earlier on ties.
[[nodiscard]] std::span<const Expansion> expansion_table();
// Null when there is none.
[[nodiscard]] const Expansion* choose_expansion(std::string_view op, Engine engine, WeightForm form, Rows rows);

[[nodiscard]] Result<Module> expand(const Module& module, const PassOptions& options);

}  // namespace headrace
