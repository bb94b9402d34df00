#include "passes/dtype.h"

#include "base/testing.h"
#include "interp/interpreter_testing.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/pipeline.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::module_of;

// A tied head, a weight in each plain type, and everything that stays f32.
constexpr std::string_view kModule = R"(
recipe 0 { source "table" "Q8_0" 0 0 272 step decode output "table": f32[8, 32] }
recipe 1 { source "w32" "F32" 0 1024 4096 step copy output "w32": f32[32, 32] }
recipe 2 { source "w16" "F16" 0 8192 2048 step decode output "w16": f32[32, 32] }
recipe 3 { source "wb" "BF16" 0 16384 2048 step decode output "wb": f32[32, 32] }
recipe 4 { source "norm" "F32" 0 32768 128 step copy output "norm": f32[32] }
recipe 5 { source "bias" "F32" 0 33000 128 step copy output "bias": f32[32] }
recipe 6 { source "router" "F32" 0 34000 4096 step copy output "router": f32[32, 32] }
parameter "table": f32[8, 32] embedding 0 0
parameter "w32": f32[32, 32] matmul 1 0
parameter "w16": f32[32, 32] matmul 2 0
parameter "wb": f32[32, 32] matmul 3 0
parameter "norm": f32[32] norm 4 0
parameter "bias": f32[32] bias 5 0
parameter "router": f32[32, 32] router 6 0
func public "f"(%0 "ids": i32[1, 5]) -> ("logits": f32[1, 5, 8], "other": f32[32, 32]) {
  %1 = parameter() {name = "table", dtype = f32, shape = [8, 32]} : f32[8, 32]
  %2 = embedding(%1, %0) : f32[1, 5, 32] @ "token_embd"
  %3 = parameter() {name = "norm", dtype = f32, shape = [32]} : f32[32]
  %4 = broadcast_in_dim(%3) {shape = [1, 5, 32], dims = [2]} : f32[1, 5, 32]
  %5 = multiply(%2, %4) : f32[1, 5, 32]
  %6 = parameter() {name = "w32", dtype = f32, shape = [32, 32]} : f32[32, 32]
  %7 = parameter() {name = "bias", dtype = f32, shape = [32]} : f32[32]
  %8 = linear(%5, %6, %7) {split_heads = [], merge_heads = []} : f32[1, 5, 32]
  %9 = parameter() {name = "w16", dtype = f32, shape = [32, 32]} : f32[32, 32]
  %10 = linear(%8, %9) {split_heads = [], merge_heads = []} : f32[1, 5, 32]
  %11 = parameter() {name = "wb", dtype = f32, shape = [32, 32]} : f32[32, 32]
  %12 = linear(%10, %11) {split_heads = [], merge_heads = []} : f32[1, 5, 32]
  %13 = parameter() {name = "router", dtype = f32, shape = [32, 32]} : f32[32, 32]
  %14 = linear(%12, %13) {split_heads = [], merge_heads = []} : f32[1, 5, 32]
  %15 = linear(%14, %1) {split_heads = [], merge_heads = []} : f32[1, 5, 8]
  %16 = add(%6, %11) : f32[32, 32]
  return %15, %16
})";

// What the pass makes of it for bf16. `add` stands for a use that takes no narrow weight.
constexpr std::string_view kNarrow = R"(
recipe 0 { source "table" "Q8_0" 0 0 272 step decode step round_bf16 output "table": bf16[8, 32] }
recipe 1 { source "w32" "F32" 0 1024 4096 step round_bf16 output "w32": bf16[32, 32] }
recipe 2 { source "w16" "F16" 0 8192 2048 step decode step round_bf16 output "w16": bf16[32, 32] }
recipe 3 { source "wb" "BF16" 0 16384 2048 step copy output "wb": bf16[32, 32] }
recipe 4 { source "norm" "F32" 0 32768 128 step copy output "norm": f32[32] }
recipe 5 { source "bias" "F32" 0 33000 128 step copy output "bias": f32[32] }
recipe 6 { source "router" "F32" 0 34000 4096 step copy output "router": f32[32, 32] }
parameter "table": bf16[8, 32] embedding 0 0
parameter "w32": bf16[32, 32] matmul 1 0
parameter "w16": bf16[32, 32] matmul 2 0
parameter "wb": bf16[32, 32] matmul 3 0
parameter "norm": f32[32] norm 4 0
parameter "bias": f32[32] bias 5 0
parameter "router": f32[32, 32] router 6 0
func public "f"(%0 "ids": i32[1, 5]) -> ("logits": f32[1, 5, 8], "other": f32[32, 32]) {
  %1 = parameter() {name = "table", dtype = bf16, shape = [8, 32]} : bf16[8, 32]
  %2 = embedding(%1, %0) : bf16[1, 5, 32] @ "token_embd"
  %3 = convert(%2) {dtype = f32} : f32[1, 5, 32] @ "token_embd"
  %4 = parameter() {name = "norm", dtype = f32, shape = [32]} : f32[32]
  %5 = broadcast_in_dim(%4) {shape = [1, 5, 32], dims = [2]} : f32[1, 5, 32]
  %6 = multiply(%3, %5) : f32[1, 5, 32]
  %7 = parameter() {name = "w32", dtype = bf16, shape = [32, 32]} : bf16[32, 32]
  %8 = convert(%7) {dtype = f32} : f32[32, 32]
  %9 = parameter() {name = "bias", dtype = f32, shape = [32]} : f32[32]
  %10 = linear(%6, %7, %9) {split_heads = [], merge_heads = []} : f32[1, 5, 32]
  %11 = parameter() {name = "w16", dtype = bf16, shape = [32, 32]} : bf16[32, 32]
  %12 = linear(%10, %11) {split_heads = [], merge_heads = []} : f32[1, 5, 32]
  %13 = parameter() {name = "wb", dtype = bf16, shape = [32, 32]} : bf16[32, 32]
  %14 = convert(%13) {dtype = f32} : f32[32, 32]
  %15 = linear(%12, %13) {split_heads = [], merge_heads = []} : f32[1, 5, 32]
  %16 = parameter() {name = "router", dtype = f32, shape = [32, 32]} : f32[32, 32]
  %17 = linear(%15, %16) {split_heads = [], merge_heads = []} : f32[1, 5, 32]
  %18 = linear(%17, %1) {split_heads = [], merge_heads = []} : f32[1, 5, 8]
  %19 = add(%8, %14) : f32[32, 32]
  return %18, %19
})";

TEST(DtypePass, NarrowsGraphAndRecipesByRole) {
  ASSERT_OK_AND_ASSIGN(const Module after, narrow_weights(module_of(std::string(kModule)), {.weights = DType::kBF16}));
  EXPECT_EQ(print(after), print(module_of(std::string(kNarrow))));
  EXPECT_OK(verify(after));
}

TEST(DtypePass, CopiesWhatAlreadyIsOfTheType) {
  ASSERT_OK_AND_ASSIGN(const Module after, narrow_weights(module_of(std::string(kModule)), {.weights = DType::kF16}));
  EXPECT_OK(verify(after));
  using Steps = std::vector<StepKind>;
  EXPECT_EQ(after.recipes[0].steps, (Steps{StepKind::kDecode, StepKind::kRoundF16}));
  EXPECT_EQ(after.recipes[1].steps, (Steps{StepKind::kRoundF16}));
  EXPECT_EQ(after.recipes[2].steps, (Steps{StepKind::kCopy}));
  EXPECT_EQ(after.recipes[3].steps, (Steps{StepKind::kDecode, StepKind::kRoundF16}));
  EXPECT_EQ(after.recipes[6].steps, (Steps{StepKind::kCopy}));
  EXPECT_EQ(after.parameter("w16")->type.dtype, DType::kF16);
  EXPECT_EQ(after.parameter("router")->type.dtype, DType::kF32);
}

TEST(DtypePass, F32AndASecondRunChangeNothing) {
  const Module before = module_of(std::string(kModule));
  ASSERT_OK_AND_ASSIGN(const Module same, narrow_weights(before, {.weights = DType::kF32}));
  EXPECT_EQ(same, before);
  ASSERT_OK_AND_ASSIGN(const Module once, narrow_weights(before, {.weights = DType::kBF16}));
  for (const DType dtype : {DType::kBF16, DType::kF16}) {
    ASSERT_OK_AND_ASSIGN(const Module twice, narrow_weights(once, {.weights = dtype}));
    EXPECT_EQ(twice, once) << name(dtype);
  }
}

TEST(DtypePass, RefusesOtherTypes) {
  EXPECT_THAT(narrow_weights(module_of(std::string(kModule)), {.weights = DType::kI8}),
              IsError(ErrorCode::kPass, HasSubstr("weights cannot be stored as i8, only as f32, bf16 or f16")));
}

TEST(DtypePass, IsTheModelStage) {
  std::vector<std::string> seen;
  ASSERT_OK_AND_ASSIGN(const Module after,
                       run_model_pipeline(module_of(std::string(kModule)), {.weights = DType::kBF16},
                                          [&](std::string_view pass, const Module&) { seen.emplace_back(pass); }));
  EXPECT_EQ(seen, (std::vector<std::string>{"dtype"}));
  EXPECT_EQ(after, module_of(std::string(kNarrow)));
  EXPECT_THAT(run_model_pipeline(after, {.weights = DType::kU8}), IsError(ErrorCode::kPass, HasSubstr("pass dtype: ")));
}

// The narrow module gives what the wide one gives on the rounded weights: nothing else is rounded.
TEST(DtypePass, ActivationsAreNotRounded) {
  const Module before = module_of(std::string(kModule));
  ASSERT_OK_AND_ASSIGN(const Module after, narrow_weights(before, {.weights = DType::kBF16}));
  testing::MapParameters<double> narrow;
  testing::MapParameters<double> wide;
  for (const Parameter& p : after.parameters) {
    const auto sizes = static_sizes(p.type.shape);
    std::vector<double> values;
    for (int64_t i = 0; i < *elements(p.type.shape); ++i)
      values.push_back(round_to(p.type.dtype, 0.11 * static_cast<double>(i % 9) - 0.4));
    wide.tensors[p.name] = testing::floats<double>(sizes, values);
    HostTensor<double> stored(p.type.dtype, sizes);
    std::copy(values.begin(), values.end(), stored.mutable_floats().begin());
    narrow.tensors[p.name] = std::move(stored);
  }
  const auto run = [](const Module& module, const testing::MapParameters<double>& parameters) {
    return interpret<double>(module, "f", {testing::ints<double>({1, 5}, {0, 7, 3, 3, 1})}, parameters);
  };
  ASSERT_OK_AND_ASSIGN(const auto want, run(before, wide));
  ASSERT_OK_AND_ASSIGN(const auto got, run(after, narrow));
  for (size_t r = 0; r < want.size(); ++r)
    for (size_t i = 0; i < want[r].floats().size(); ++i) EXPECT_EQ(got[r].floats()[i], want[r].floats()[i]) << r;
}

}  // namespace
}  // namespace headrace
