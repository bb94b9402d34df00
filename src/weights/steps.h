// What the executor needs to know of each StepKind: the smallest run of bytes it works on, and how it works on one.
// One row per row of ir/recipe.def, in its order. The executor takes the table as an argument, so that a new step is a
// row here and nothing else.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "ir/recipe.h"
#include "quant/rounding.h"

namespace headrace {

// The smallest run a step works on: a block, a row. A step turns n units of input into n units of each output.
struct StepUnit {
  uint64_t in_bytes{};  // 0: the step makes its bytes from nothing (synthetic weights); then it is the first step
  std::vector<uint64_t> out_bytes = {};  // one per output; all steps but the last have one output
};

// Where a run lies, and where a step that rounds adds what it lost.
struct StepRun {
  const Recipe* recipe{};
  const SourceRange* source{};  // null for a recipe without sources
  uint64_t first_unit{};        // of this step, counted from the start of the source (or of the parameter without one)
  RoundingLoss* loss{};         // null: nobody asks
};

// `unit`: source is null for a recipe without sources. Errors: kBlockType (cannot decode), kPass (the step does not fit
// the recipe).
// `apply`: whole units; in and each out start at a multiple of 64 bytes and do not overlap. Pure: the same run gives
// the same bytes from any thread.
struct Step {
  StepKind kind{};
  Result<StepUnit> (*unit)(const Recipe& recipe, const SourceRange* source){nullptr};
  void (*apply)(const StepRun& run, std::span<const std::byte> in, std::span<const std::span<std::byte>> out){nullptr};
};

[[nodiscard]] std::span<const Step> step_table();

// The units of a recipe's whole chain of steps on one source: each step's units scaled so that they meet.
struct ChainUnit {
  uint64_t in_bytes{};                          // read from the source per unit of the chain
  std::vector<uint64_t> between = {};           // bytes after each step but the last
  std::vector<uint64_t> out_bytes = {};         // of the last step, one per recipe output
  [[nodiscard]] uint64_t buffer_bytes() const;  // all of the above together
};

// Errors: as Step::unit, and kPass when steps and outputs do not fit together.
[[nodiscard]] Result<ChainUnit> chain_unit(std::span<const Step> steps, const Recipe& recipe,
                                           const SourceRange* source);

// Applies the chain to `units` units from `first_unit` on. `between` and `out` hold as many bytes as ChainUnit says.
void apply_chain(std::span<const Step> steps, const ChainUnit& unit, const StepRun& run, std::span<const std::byte> in,
                 std::span<const std::span<std::byte>> between, std::span<const std::span<std::byte>> out);

}  // namespace headrace
