// Recipes: how a parameter's bytes come out of the checkpoint. Pure data; src/weights executes them.
//
// A recipe reads its sources once and may have several outputs (a quantising step yields weight and scale from one
// read) or no source at all (synthetic weights). Steps work on runs of whole blocks, so that a recipe streams: they
// never move rows, and never fold in constants that the container does not hold (DESIGN.md), which keeps in-place use
// possible.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/type.h"
#include "quant/block_type.h"

namespace headrace {

enum class StepKind : uint8_t {
#define HR_STEP(enumerator, name, meaning) enumerator,
#include "ir/recipe.def"
};

struct StepInfo {
  StepKind kind{};
  std::string_view name;
  std::string_view meaning;
};

inline constexpr StepInfo kStepTable[] = {
#define HR_STEP(enumerator, name, meaning) {StepKind::enumerator, name, meaning},
#include "ir/recipe.def"
};

// The type that a rounding step makes of f32; nullopt for the other steps.
[[nodiscard]] constexpr std::optional<DType> rounds_to(StepKind step) {
  switch (step) {
    case StepKind::kRoundBf16:
      return DType::kBF16;
    case StepKind::kRoundF16:
      return DType::kF16;
    case StepKind::kCopy:
    case StepKind::kDecode:
      return std::nullopt;
  }
  return std::nullopt;
}

// Where source bytes lie: a range of one of the checkpoint's files.
struct SourceRange {
  std::string tensor;  // the checkpoint's name, for messages
  BlockType type{};
  uint32_t file{};
  uint64_t offset_bytes{};
  uint64_t length_bytes{};
  friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

struct RecipeOutput {
  std::string parameter;
  Type type;  // static
  friend bool operator==(const RecipeOutput&, const RecipeOutput&) = default;
};

struct Recipe {
  std::vector<SourceRange> sources;
  std::vector<StepKind> steps;
  std::vector<RecipeOutput> outputs;
  friend bool operator==(const Recipe&, const Recipe&) = default;
};

// `Q4_1 'blk.0.attn_q.weight' -> decode -> f32[576, 576]`: the manifest's words.
[[nodiscard]] std::string in_words(const Recipe& recipe);

}  // namespace headrace
