#include "weights/steps.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "base/checked.h"
#include "quant/block_type.h"

namespace headrace {
namespace {

// No machine holds a buffer of this size; below it, sums of buffer sizes cannot overflow.
constexpr uint64_t kMaxUnitBytes = uint64_t{1} << 48;

Status check_one_to_one(const Recipe& recipe, const SourceRange* source, std::string_view step) {
  if (source == nullptr || recipe.outputs.empty())
    return fail(ErrorCode::kPass, "step '{}' needs a source and an output", step);
  return {};
}

Result<StepUnit> copy_unit(const Recipe& recipe, const SourceRange* source) {
  HR_TRY_STATUS(check_one_to_one(recipe, source, "copy"));
  const auto bytes = static_cast<uint64_t>(info(source->type).block_bytes);
  return StepUnit{.in_bytes = bytes, .out_bytes = {bytes}};
}

void copy_apply(const StepRun& /*run*/, std::span<const std::byte> in, std::span<const std::span<std::byte>> out) {
  std::memcpy(out[0].data(), in.data(), in.size());
}

Result<StepUnit> decode_unit(const Recipe& recipe, const SourceRange* source) {
  HR_TRY_STATUS(check_one_to_one(recipe, source, "decode"));
  const BlockTypeInfo& type = info(source->type);
  if (!can_decode(source->type))
    return fail(ErrorCode::kBlockType, "tensor '{}': type {} cannot be decoded", source->tensor, type.name);
  return StepUnit{.in_bytes = static_cast<uint64_t>(type.block_bytes),
                  .out_bytes = {static_cast<uint64_t>(type.block_elements) * sizeof(float)}};
}

void decode_apply(const StepRun& run, std::span<const std::byte> in, std::span<const std::span<std::byte>> out) {
  // Chunk buffers are allocated bytes, aligned to 64: floats may live in them.
  auto* floats = reinterpret_cast<float*>(out[0].data());  // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
  decode_f32(run.source->type, in, {floats, out[0].size() / sizeof(float)});
}

template <DType kTo>
Result<StepUnit> round_unit(const Recipe& recipe, const SourceRange* source) {
  HR_TRY_STATUS(check_one_to_one(recipe, source, "round"));
  if (rounds_to(recipe.steps.front()) && info(source->type).plain != DType::kF32)
    return fail(ErrorCode::kPass, "tensor '{}' is {}, which a rounding step cannot read", source->tensor,
                info(source->type).name);
  if (recipe.outputs[0].type.dtype != kTo)
    return fail(ErrorCode::kPass, "'{}' is {}, its recipe rounds to {}", recipe.outputs[0].parameter,
                to_string(recipe.outputs[0].type), name(kTo));
  return StepUnit{.in_bytes = sizeof(float), .out_bytes = {static_cast<uint64_t>(storage_bytes(kTo))}};
}

template <quant::RoundF32 kRound>
void round_apply(const StepRun& run, std::span<const std::byte> in, std::span<const std::span<std::byte>> out) {
  // Chunk buffers are allocated bytes, aligned to 64: numbers may live in them.
  // NOLINTBEGIN(cppcoreguidelines-pro-type-reinterpret-cast)
  const auto* floats = reinterpret_cast<const float*>(in.data());
  auto* halves = reinterpret_cast<uint16_t*>(out[0].data());
  // NOLINTEND(cppcoreguidelines-pro-type-reinterpret-cast)
  RoundingLoss loss;
  kRound({floats, in.size() / sizeof(float)}, {halves, out[0].size() / sizeof(uint16_t)}, loss);
  if (run.loss != nullptr) run.loss->add(loss);
}

constexpr Step kSteps[] = {
    {.kind = StepKind::kCopy, .unit = copy_unit, .apply = copy_apply},
    {.kind = StepKind::kDecode, .unit = decode_unit, .apply = decode_apply},
    {.kind = StepKind::kRoundBf16, .unit = round_unit<DType::kBF16>, .apply = round_apply<quant::round_to_bf16>},
    {.kind = StepKind::kRoundF16, .unit = round_unit<DType::kF16>, .apply = round_apply<quant::round_to_f16>},
};
static_assert(std::size(kSteps) == std::size(kStepTable), "every row of ir/recipe.def needs a row here");

Result<const Step*> find_step(std::span<const Step> steps, StepKind kind) {
  const auto it = std::find_if(steps.begin(), steps.end(), [kind](const Step& step) { return step.kind == kind; });
  if (it == steps.end()) return fail(ErrorCode::kPass, "no implementation of step {}", static_cast<int>(kind));
  return &*it;
}

Result<uint64_t> scaled(uint64_t bytes, uint64_t factor) {
  const auto product = checked_mul(bytes, factor);
  if (!product || *product > kMaxUnitBytes)
    return fail(ErrorCode::kMemoryLimit, "one unit of its steps takes more than {} bytes", kMaxUnitBytes);
  return *product;
}

// Makes one chain of `chain` and the step that follows it.
Status append(ChainUnit& chain, const StepUnit& next, bool is_first) {
  if (is_first) {
    chain.in_bytes = next.in_bytes;
    chain.out_bytes = next.out_bytes;
    return {};
  }
  if (chain.out_bytes.size() != 1 || next.in_bytes == 0)
    return fail(ErrorCode::kPass, "only the last step may have several outputs, only the first one no input");
  const uint64_t out = chain.out_bytes[0];
  const uint64_t common = std::gcd(out, next.in_bytes);
  const uint64_t repeat_chain = next.in_bytes / common;
  const uint64_t repeat_next = out / common;
  HR_TRY(chain.in_bytes, scaled(chain.in_bytes, repeat_chain));
  for (uint64_t& bytes : chain.between) {
    HR_TRY(bytes, scaled(bytes, repeat_chain));
  }
  HR_TRY(const uint64_t meeting, scaled(out, repeat_chain));
  chain.between.push_back(meeting);
  chain.out_bytes = next.out_bytes;
  for (uint64_t& bytes : chain.out_bytes) {
    HR_TRY(bytes, scaled(bytes, repeat_next));
  }
  return {};
}

}  // namespace

std::span<const Step> step_table() { return kSteps; }

uint64_t ChainUnit::buffer_bytes() const {
  uint64_t sum = in_bytes;
  for (const uint64_t bytes : between) sum += bytes;
  for (const uint64_t bytes : out_bytes) sum += bytes;
  return sum;
}

Result<ChainUnit> chain_unit(std::span<const Step> steps, const Recipe& recipe, const SourceRange* source) {
  if (recipe.steps.empty()) return fail(ErrorCode::kPass, "a recipe without steps");
  ChainUnit chain;
  for (size_t i = 0; i < recipe.steps.size(); ++i) {
    HR_TRY(const Step* step, find_step(steps, recipe.steps[i]));
    HR_TRY(const StepUnit unit, step->unit(recipe, source));
    const bool all_positive =
        std::all_of(unit.out_bytes.begin(), unit.out_bytes.end(), [](uint64_t b) { return b > 0; });
    HR_CHECK(all_positive && !unit.out_bytes.empty());
    HR_TRY_STATUS(append(chain, unit, i == 0));
  }
  if (chain.out_bytes.size() != recipe.outputs.size())
    return fail(ErrorCode::kPass, "the steps give {} outputs, the recipe has {}", chain.out_bytes.size(),
                recipe.outputs.size());
  if ((source == nullptr) != (chain.in_bytes == 0))
    return fail(ErrorCode::kPass, "a recipe {} a source whose first step {} one",
                source == nullptr ? "without" : "with", source == nullptr ? "reads" : "does not read");
  return chain;
}

void apply_chain(std::span<const Step> steps, const ChainUnit& unit, const StepRun& run, std::span<const std::byte> in,
                 std::span<const std::span<std::byte>> between, std::span<const std::span<std::byte>> out) {
  const Recipe& recipe = *run.recipe;
  for (size_t i = 0; i < recipe.steps.size(); ++i) {
    const Step* step = find_step(steps, recipe.steps[i]).value();
    const bool is_last = i + 1 == recipe.steps.size();
    StepRun step_run = run;
    // The chain's unit holds a whole number of this step's units.
    const uint64_t own = step->unit(recipe, run.source).value().out_bytes[0];
    step_run.first_unit = run.first_unit * ((is_last ? unit.out_bytes[0] : unit.between[i]) / own);
    step->apply(step_run, i == 0 ? in : between[i - 1], is_last ? out : between.subspan(i, 1));
  }
}

}  // namespace headrace
