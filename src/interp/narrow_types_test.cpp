// Where narrow types round, and where they must not: reports in which a conversion was folded away or a sum was kept in
// the result's type.
#include "interp/interpreter_testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using testing::module_of;

template <class F>
class NarrowTypes : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(NarrowTypes, Floats);

// There and back is not nothing: 1 + 2^-8 lies in the middle of two bf16, and 2^-12 more is nearer to the upper.
TYPED_TEST(NarrowTypes, ThereAndBackRounds_F06) {
  const Module module = module_of(R"(func public "f"(%0 "x": f32[3]) -> ("r": f32[3]) {
  %1 = convert(%0) {dtype = bf16} : bf16[3]
  %2 = convert(%1) {dtype = f32} : f32[3]
  return %2
}
)");
  const auto x = floats<TypeParam>({3}, {TypeParam{0x1.01p0}, TypeParam{0x1.011p0}, TypeParam{-0x1.011p0}});
  ASSERT_OK_AND_ASSIGN(const auto results, testing::run<TypeParam>(module, {x}));
  EXPECT_THAT(results[0].floats(), ElementsAre(1, 0x1.02p0, -0x1.02p0));
}

TYPED_TEST(NarrowTypes, MiddlesRoundToEven_F07) {
  const Module module = module_of(R"(func public "f"(%0 "x": f32[6]) -> ("r": f32[6]) {
  %1 = round_nearest_even(%0) : f32[6]
  return %1
}
)");
  const auto x = floats<TypeParam>({6}, {-2.5, -1.5, -0.5, 0.5, 1.5, 2.5});
  ASSERT_OK_AND_ASSIGN(const auto results, testing::run<TypeParam>(module, {x}));
  EXPECT_THAT(results[0].floats(), ElementsAre(-2, -2, 0, 0, 2, 2));
}

// Kept in bf16, a sum of ones would stay at 256.
TYPED_TEST(NarrowTypes, SumsOfProductsAreKeptInF32_H08) {
  const std::vector<TypeParam> ones(4096, 1);
  for (const char* result : {"f32", "bf16"}) {
    const Module module =
        module_of(fmt::format(R"(func public "f"(%0 "x": bf16[1, 4096], %1 "w": bf16[4096, 1]) -> ("r": {0}[1, 1]) {{
  %2 = dot_general(%0, %1) {{lhs_batch = [], rhs_batch = [], lhs_contract = [1], rhs_contract = [0], dtype = {0}}} : {0}[1, 1]
  return %2
}}
)",
                              result));
    ASSERT_OK_AND_ASSIGN(const auto results,
                         testing::run<TypeParam>(module, {floats<TypeParam>({1, 4096}, ones, DType::kBF16),
                                                          floats<TypeParam>({4096, 1}, ones, DType::kBF16)}));
    EXPECT_THAT(results[0].floats(), ElementsAre(4096)) << result;
  }
}

}  // namespace
}  // namespace headrace
