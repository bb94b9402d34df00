#include "interp/bind.h"

#include "interp/interpreter_testing.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using ::testing::Not;
using ::testing::Pair;

Result<SymbolValues> bind(const std::string& arguments, const std::vector<InputShape>& inputs) {
  const Module module =
      testing::module_of("symbol past [0, 100]\nsymbol seq [1, 8]\nfunc public \"f\"(" + arguments +
                         ") -> (\"r\": i1[]) {\n  %9 = constant() {value = splat i1[] 1} : i1[]\n  return %9\n}\n");
  return bind_symbols(module, module.functions[0], inputs);
}

const InputShape kFive{DType::kI32, {1, 5}};

TEST(BindTest, SolvesSymbolsFromSizes) {
  ASSERT_OK_AND_ASSIGN(const auto values, bind("%0 \"x\": i32[1, seq]", {kFive}));
  EXPECT_THAT(values, ElementsAre(Pair("seq", 5)));
}

TEST(BindTest, SolvesAffineDims) {
  ASSERT_OK_AND_ASSIGN(const auto values, bind("%0 \"x\": i32[2*seq - 1], %1 \"y\": i32[past + seq, 3]",
                                               {{DType::kI32, {5}}, {DType::kI32, {10, 3}}}));
  EXPECT_THAT(values, ElementsAre(Pair("past", 7), Pair("seq", 3)));
}

TEST(BindTest, OrderOfArgumentsDoesNotMatter) {
  ASSERT_OK_AND_ASSIGN(const auto values, bind("%0 \"y\": i32[past + seq], %1 \"x\": i32[seq]",
                                               {{DType::kI32, {10}}, {DType::kI32, {3}}}));
  EXPECT_THAT(values, ElementsAre(Pair("past", 7), Pair("seq", 3)));
}

TEST(BindTest, NamesArgumentSizeAndExpectation) {
  const auto one = "%0 \"tokens\": i32[1, seq]";
  EXPECT_THAT(bind(one, {}), IsError(ErrorCode::kInput, "f: 0 inputs, expected 1"));
  EXPECT_THAT(bind(one, {{DType::kI64, {1, 5}}}),
              IsError(ErrorCode::kInput, "f: argument 'tokens': i64, expected i32[1, seq]"));
  EXPECT_THAT(bind(one, {{DType::kI32, {5}}}),
              IsError(ErrorCode::kInput, "f: argument 'tokens': rank 1, expected 2 for i32[1, seq]"));
  EXPECT_THAT(bind(one, {{DType::kI32, {2, 5}}}),
              IsError(ErrorCode::kInput, "f: argument 'tokens': dim 0 is 2, expected 1"));
  EXPECT_THAT(bind(one, {{DType::kI32, {1, 9}}}),
              IsError(ErrorCode::kInput, "f: argument 'tokens': dim 1: seq is 9, expected 1 to 8"));
  EXPECT_THAT(bind(one, {{DType::kI32, {1, 0}}}), IsError(ErrorCode::kInput, HasSubstr("seq is 0, expected 1 to 8")));
}

TEST(BindTest, ReportsContradictions) {
  EXPECT_THAT(bind("%0 \"x\": i32[seq], %1 \"y\": i32[seq + 1]", {{DType::kI32, {3}}, {DType::kI32, {3}}}),
              IsError(ErrorCode::kInput, "f: argument 'y': dim 0 is 3, expected seq + 1 = 4 (seq = 3)"));
  EXPECT_THAT(bind("%0 \"x\": i32[2*seq]", {{DType::kI32, {5}}}),
              IsError(ErrorCode::kInput, "f: argument 'x': dim 0 is 5, expected 2*seq = 4 (seq = 2)"));
  EXPECT_THAT(bind("%0 \"x\": i32[past + seq]", {{DType::kI32, {5}}}),
              IsError(ErrorCode::kInput, "f: argument 'x': dim 0 is 5, which leaves past + seq undetermined"));
}

TEST(BindTest, ReportsAllFaultsTogether) {
  EXPECT_THAT(bind("%0 \"x\": i32[seq], %1 \"y\": f32[2]", {{DType::kI64, {3}}, {DType::kF32, {2, 1}}}),
              IsError(ErrorCode::kInput, AllOf(HasSubstr("'x': i64"), HasSubstr("'y': rank 2"))));
}

TEST(BindTest, OverflowIsAnError) {
  EXPECT_THAT(
      bind("%0 \"x\": i32[past], %1 \"y\": i32[9223372036854775807*past]", {{DType::kI32, {3}}, {DType::kI32, {3}}}),
      IsError(ErrorCode::kInput, HasSubstr("overflows")));
}

}  // namespace
}  // namespace headrace
