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
    const BlockType type = *block_type_from_gguf(row.gguf_id);
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
