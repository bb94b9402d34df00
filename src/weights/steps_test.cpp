#include "weights/steps.h"

#include "base/testing.h"
#include "quant/block_type.h"
#include "weights/weights_testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using testing::kCounting;
using testing::kInt8Rows;

SourceRange source(BlockType type, uint64_t bytes) { return {"w", type, 0, 0, bytes}; }

TEST(Steps, EveryKindHasItsRow) {
  for (size_t i = 0; i < std::size(kStepTable); ++i) {
    EXPECT_EQ(step_table()[i].kind, kStepTable[i].kind);
    EXPECT_NE(step_table()[i].unit, nullptr);
    EXPECT_NE(step_table()[i].apply, nullptr);
  }
}

TEST(Steps, DecodeWorksOnBlocks) {
  for (const BlockTypeInfo& row : block_type_table()) {
    const auto type = static_cast<BlockType>(&row - block_type_table().data());
    const SourceRange from = source(type, static_cast<uint64_t>(row.block_bytes));
    const Recipe recipe{.sources = {from}, .steps = {StepKind::kDecode}, .outputs = {{"w", Type{DType::kF32, {1}}}}};
    const auto unit = chain_unit(step_table(), recipe, &from);
    if (!can_decode(type)) {
      EXPECT_THAT(unit, IsError(ErrorCode::kBlockType, HasSubstr("'w'")));
      continue;
    }
    ASSERT_OK(unit);
    EXPECT_EQ(unit->in_bytes, static_cast<uint64_t>(row.block_bytes));
    EXPECT_THAT(unit->out_bytes, ElementsAre(static_cast<uint64_t>(row.block_elements) * 4));
  }
}

TEST(Steps, UnitsOfAChainMeet) {
  const auto steps = testing::steps_with_tests_own();
  const SourceRange from = source(BlockType::kQ8_0, 0);
  // Rows of 48 elements, blocks of 32: two rows are three blocks.
  const Recipe recipe{.sources = {from},
                      .steps = {StepKind::kDecode, kInt8Rows},
                      .outputs = {{"w", Type{DType::kI8, {2, 48}}}, {"s", Type{DType::kF32, {2}}}}};
  ASSERT_OK_AND_ASSIGN(const ChainUnit unit, chain_unit(steps, recipe, &from));
  EXPECT_EQ(unit.in_bytes, 3U * 34);
  EXPECT_THAT(unit.between, ElementsAre(3 * 32 * 4));
  EXPECT_THAT(unit.out_bytes, ElementsAre(96, 8));
  EXPECT_EQ(unit.buffer_bytes(), 102U + 384 + 104);
}

TEST(Steps, RoundingFollowsDecodingOrReadsF32) {
  const RecipeOutput bf16{"w", Type{DType::kBF16, {32}}};
  const RecipeOutput f16{"w", Type{DType::kF16, {32}}};
  const auto unit = [](BlockType type, std::vector<StepKind> kinds, const RecipeOutput& output) {
    const SourceRange from = source(type, 0);
    return chain_unit(step_table(), {.sources = {from}, .steps = std::move(kinds), .outputs = {output}}, &from);
  };
  ASSERT_OK_AND_ASSIGN(const ChainUnit both, unit(BlockType::kQ8_0, {StepKind::kDecode, StepKind::kRoundBf16}, bf16));
  EXPECT_EQ(both.in_bytes, 34U);
  EXPECT_THAT(both.between, ElementsAre(32 * 4));
  EXPECT_THAT(both.out_bytes, ElementsAre(32 * 2));
  ASSERT_OK_AND_ASSIGN(const ChainUnit alone, unit(BlockType::kF32, {StepKind::kRoundF16}, f16));
  EXPECT_EQ(alone.in_bytes, 4U);
  EXPECT_THAT(alone.out_bytes, ElementsAre(2));
  EXPECT_THAT(unit(BlockType::kQ8_0, {StepKind::kRoundF16}, f16),
              IsError(ErrorCode::kPass, HasSubstr("'w' is Q8_0, which a rounding step cannot read")));
  EXPECT_THAT(unit(BlockType::kF32, {StepKind::kRoundBf16}, f16),
              IsError(ErrorCode::kPass, HasSubstr("'w' is f16[32], its recipe rounds to bf16")));
}

TEST(Steps, ChainsThatDoNotFitAreRefused) {
  const auto steps = testing::steps_with_tests_own();
  const SourceRange from = source(BlockType::kF32, 0);
  const RecipeOutput rows{"w", Type{DType::kI8, {2, 48}}};
  const RecipeOutput scales{"s", Type{DType::kF32, {2}}};
  const auto unit = [&](std::vector<StepKind> kinds, std::vector<RecipeOutput> outputs, const SourceRange* s) {
    return chain_unit(steps, {.sources = {}, .steps = std::move(kinds), .outputs = std::move(outputs)}, s);
  };
  EXPECT_THAT(unit({kInt8Rows, StepKind::kCopy}, {rows, scales}, &from),
              IsError(ErrorCode::kPass, HasSubstr("only the last step")));
  EXPECT_THAT(unit({StepKind::kCopy, kCounting}, {rows}, &from),
              IsError(ErrorCode::kPass, HasSubstr("only the first")));
  EXPECT_THAT(unit({kInt8Rows}, {rows}, &from), IsError(ErrorCode::kPass, HasSubstr("2 outputs, the recipe has 1")));
  EXPECT_THAT(unit({kCounting}, {rows}, &from), IsError(ErrorCode::kPass, HasSubstr("does not read")));
  EXPECT_THAT(unit({kInt8Rows}, {rows, scales}, nullptr), IsError(ErrorCode::kPass, HasSubstr("without a source")));
  const RecipeOutput endless{"w", Type{DType::kI8, {2, int64_t{1} << 50}}};
  EXPECT_THAT(unit({StepKind::kDecode, kInt8Rows}, {endless, scales}, &from),
              IsError(ErrorCode::kMemoryLimit, HasSubstr("one unit of its steps")));
}

}  // namespace
}  // namespace headrace
