#include "interp/interpreter.h"

#include <cmath>

#include "interp/interpreter_testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using ::testing::HasSubstr;
using testing::ints;
using testing::IsError;
using testing::MapParameters;
using testing::module_of;

template <class F>
class InterpreterTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(InterpreterTest, Floats);

TYPED_TEST(InterpreterTest, Arithmetic) {
  const Module module = module_of(R"(func public "f"(%0 "x": f32[2], %1 "y": f32[2]) -> ("r": f32[2], "s": f32[2]) {
  %2 = add(%0, %1) : f32[2]
  %3 = multiply(%2, %0) : f32[2]
  return %3, %2
}
)");
  ASSERT_OK_AND_ASSIGN(const auto results, testing::run<TypeParam>(module, {floats<TypeParam>({2}, {1, 2}),
                                                                            floats<TypeParam>({2}, {3, 4})}));
  ASSERT_EQ(results.size(), 2U);
  EXPECT_THAT(results[0].floats(), ElementsAre(4, 12));
  EXPECT_THAT(results[1].floats(), ElementsAre(4, 6));
}

TYPED_TEST(InterpreterTest, InputsAndRepeatedResultsPassThrough) {
  const Module module =
      module_of(R"(func public "f"(%0 "x": f32[1], %1 "unused": f32[1]) -> ("a": f32[1], "b": f32[1], "c": f32[1]) {
  %2 = negate(%0) : f32[1]
  return %0, %2, %0
}
)");
  ASSERT_OK_AND_ASSIGN(const auto results,
                       testing::run<TypeParam>(module, {floats<TypeParam>({1}, {1}), floats<TypeParam>({1}, {2})}));
  EXPECT_EQ(results[0].floats()[0], 1);
  EXPECT_EQ(results[1].floats()[0], -1);
  EXPECT_EQ(results[2].floats()[0], 1);
}

// The sum of 1 .. x, by a loop with a captured step.
constexpr const char* kLoop = R"(func public "f"(%0 "x": i32[]) -> ("sum": i32[]) {
  %1 = constant() {value = splat i32[] 0} : i32[]
  %2 = constant() {value = splat i32[] 1} : i32[]
  %3 = while(%0, %1, %2) {carried = 2} region (%0: i32[], %1: i32[], %2: i32[]) {
    %3 = constant() {value = splat i32[] 0} : i32[]
    %4 = compare(%0, %3) {direction = "GT"} : i1[]
    return %4
  } region (%0: i32[], %1: i32[], %2: i32[]) {
    %3 = subtract(%0, %2) : i32[]
    %4 = add(%1, %0) : i32[]
    return %3, %4
  } : i32[], i32[]
  return %3#1
}
)";

TYPED_TEST(InterpreterTest, While) {
  ASSERT_OK_AND_ASSIGN(const auto results, testing::run<TypeParam>(module_of(kLoop), {ints<TypeParam>({}, {10})}));
  EXPECT_THAT(results[0].ints(), ElementsAre(55));
}

TYPED_TEST(InterpreterTest, WhileIsStoppedByTheLimit) {
  InterpreterOptions<TypeParam> options;
  options.max_region_runs = 21;  // 11 conditions, 10 bodies
  EXPECT_OK(testing::run<TypeParam>(module_of(kLoop), {ints<TypeParam>({}, {10})}, options));
  EXPECT_THAT(testing::run<TypeParam>(module_of(kLoop), {ints<TypeParam>({}, {11})}, options),
              IsError(ErrorCode::kEvaluate, "while: regions and calls ran more than 21 times"));
}

TYPED_TEST(InterpreterTest, StopRequestEndsTheRun) {
  std::stop_source source;
  InterpreterOptions<TypeParam> options{.stop = source.get_token()};
  options.observe = [&](const auto&) { source.request_stop(); };
  EXPECT_THAT(testing::run<TypeParam>(module_of(kLoop), {ints<TypeParam>({}, {10})}, options),
              IsError(ErrorCode::kInterrupted, HasSubstr("stopped")));
}

TYPED_TEST(InterpreterTest, IfTakesOneBranch) {
  const Module module = module_of(R"(func public "f"(%0 "p": i1[], %1 "x": f32[1]) -> ("r": f32[1]) {
  %2 = if(%0, %1) region (%0: f32[1]) {
    %1 = negate(%0) : f32[1]
    return %1
  } region (%0: f32[1]) {
    %1 = add(%0, %0) : f32[1]
    return %1
  } : f32[1]
  return %2
}
)");
  for (const int64_t p : {0, 1}) {
    ASSERT_OK_AND_ASSIGN(const auto results, testing::run<TypeParam>(module, {ints<TypeParam>({}, {p}, DType::kI1),
                                                                              floats<TypeParam>({1}, {3})}));
    EXPECT_EQ(results[0].floats()[0], p == 1 ? -3 : 6);
  }
}

TYPED_TEST(InterpreterTest, ReduceWithABodyOfItsOwn) {
  // Largest magnitude.
  const Module module = module_of(R"(symbol n [0, 9]
func public "f"(%0 "x": f32[2, n]) -> ("r": f32[2]) {
  %1 = constant() {value = splat f32[] 0} : f32[]
  %2 = reduce(%0, %1) {inputs = 1, dims = [1]} region (%0: f32[], %1: f32[]) {
    %2 = abs(%1) : f32[]
    %3 = maximum(%0, %2) : f32[]
    return %3
  } : f32[2]
  return %2
}
)");
  ASSERT_OK_AND_ASSIGN(const auto results,
                       testing::run<TypeParam>(module, {floats<TypeParam>({2, 3}, {1, -5, 2, 0, 3, -2})}));
  EXPECT_THAT(results[0].floats(), ElementsAre(5, 3));
  ASSERT_OK_AND_ASSIGN(const auto empty, testing::run<TypeParam>(module, {floats<TypeParam>({2, 0}, {})}));
  EXPECT_THAT(empty[0].floats(), ElementsAre(0, 0));
}

constexpr const char* kCalls = R"(symbol n [1, 9]
func private "g"(%0 "x": f32[n]) -> ("r": f32[n]) {
  %1 = add(%0, %0) : f32[n] @ "blk.0"
  return %1
}
func public "f"(%0 "x": f32[n]) -> ("r": f32[n]) {
  %1 = call(%0) {callee = "g", results = (f32[n])} : f32[n]
  %2 = call(%1) {callee = "g", results = (f32[n])} : f32[n]
  return %2
}
)";

TYPED_TEST(InterpreterTest, CallsShareTheSymbols) {
  ASSERT_OK_AND_ASSIGN(const auto results,
                       testing::run<TypeParam>(module_of(kCalls), {floats<TypeParam>({3}, {1, 2, 3})}));
  EXPECT_THAT(results[0].floats(), ElementsAre(4, 8, 12));
}

TYPED_TEST(InterpreterTest, OnlyPublicFunctionsCanBeRun) {
  const Module module = module_of(kCalls);
  for (const char* name : {"g", "h"})
    EXPECT_THAT(interpret<TypeParam>(module, name, {floats<TypeParam>({1}, {1})}, MapParameters<TypeParam>{}),
                IsError(ErrorCode::kInput, fmt::format("no function '{}', expected one of: f", name)));
}

TYPED_TEST(InterpreterTest, ObservesEveryValueWithItsPlace) {
  InterpreterOptions<TypeParam> options;
  std::vector<std::string> seen;
  options.observe = [&](const Observation<TypeParam>& o) {
    seen.push_back(fmt::format("{} {} %{}#{} {} '{}' {}", o.function, o.depth, o.node, o.result,
                               o.graph.nodes()[o.node].op->name, o.place, o.value.floats()[0]));
  };
  ASSERT_OK(testing::run<TypeParam>(module_of(kCalls), {floats<TypeParam>({1}, {1})}, options));
  EXPECT_THAT(seen, ElementsAre("g 1 %1#0 add 'blk.0' 2", "f 0 %1#0 call '' 2", "g 1 %1#0 add 'blk.0' 4",
                                "f 0 %2#0 call '' 4"));
}

TYPED_TEST(InterpreterTest, RecursionOfAnUnverifiedModuleEnds) {
  auto module = parse_module(R"(headrace.module 1 "bad"
func public "f"(%0 "x": f32[1]) -> ("r": f32[1]) {
  %1 = call(%0) {callee = "f", results = (f32[1])} : f32[1]
  return %1
}
)",
                             ops::lookup);
  ASSERT_OK(module);
  EXPECT_THAT(testing::run<TypeParam>(*module, {floats<TypeParam>({1}, {1})}),
              IsError(ErrorCode::kEvaluate, HasSubstr("nest deeper than 64")));
}

TYPED_TEST(InterpreterTest, ErrorsCarryPlaceAndOp) {
  const Module module = module_of(R"(func public "f"(%0 "t": f32[2, 1], %1 "ids": i32[1, 1]) -> ("r": f32[1, 1, 1]) {
  %2 = embedding(%0, %1) : f32[1, 1, 1] @ "model.embed"
  return %2
}
)");
  EXPECT_THAT(testing::run<TypeParam>(module, {floats<TypeParam>({2, 1}, {1, 2}), ints<TypeParam>({1, 1}, {7})}),
              IsError(ErrorCode::kEvaluate, ::testing::StartsWith("model.embed: embedding: ")));
}

TYPED_TEST(InterpreterTest, SizesBelowZeroAreRefused) {
  const Module module = module_of(R"(symbol n [1, 9]
func public "f"(%0 "x": f32[n]) -> ("r": i32[n - 5]) {
  %1 = iota() {dtype = i32, shape = [n - 5], dim = 0} : i32[n - 5]
  return %1
}
)");
  EXPECT_OK(testing::run<TypeParam>(module, {floats<TypeParam>({5}, {1, 2, 3, 4, 5})}));
  EXPECT_THAT(testing::run<TypeParam>(module, {floats<TypeParam>({1}, {1})}),
              IsError(ErrorCode::kEvaluate, "iota: dim 0 of i32[n - 5] is -4, below 0"));
}

TYPED_TEST(InterpreterTest, SizesBeyondMemoryAreRefused) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "AddressSanitizer ends the process where an allocation this large is tried";
#endif
  for (const char* size : {"4611686018427387904", "281474976710656"}) {
    const Module module = module_of(fmt::format(R"(func public "f"(%0 "x": f32[]) -> ("r": f32[{0}]) {{
  %1 = broadcast_in_dim(%0) {{shape = [{0}], dims = []}} : f32[{0}]
  return %1
}}
)",
                                                size));
    EXPECT_THAT(testing::run<TypeParam>(module, {floats<TypeParam>({}, {1})}),
                IsError(ErrorCode::kMemoryLimit, HasSubstr("memory")));
  }
}

constexpr const char* kParameters = R"(recipe 0 { output "w": f32[2] output "v": f32[2] }
parameter "w": f32[2] norm 0 0
parameter "v": f32[2] norm 0 1
func public "f"(%0 "x": f32[2]) -> ("r": f32[2]) {
  %1 = parameter() {name = "v", dtype = f32, shape = [2]} : f32[2]
  %2 = parameter() {name = "w", dtype = f32, shape = [2]} : f32[2]
  %3 = add(%0, %2) : f32[2]
  %4 = add(%3, %3) : f32[2]
  %5 = add(%4, %1) : f32[2]
  return %5
}
)";

TYPED_TEST(InterpreterTest, ParametersAreLoadedOnceAndWhenNeeded) {
  const Module module = module_of(kParameters);
  MapParameters<TypeParam> parameters;
  parameters.tensors = {{"w", floats<TypeParam>({2}, {1, 2})}, {"v", floats<TypeParam>({2}, {100, 200})}};
  InterpreterOptions<TypeParam> options;
  std::vector<uint32_t> order;
  options.observe = [&](const Observation<TypeParam>& o) { order.push_back(o.node); };
  ASSERT_OK_AND_ASSIGN(const auto results,
                       interpret<TypeParam>(module, "f", {floats<TypeParam>({2}, {0, 0})}, parameters, options));
  EXPECT_THAT(results[0].floats(), ElementsAre(102, 204));
  EXPECT_EQ(parameters.loads["w"], 1);
  EXPECT_EQ(parameters.loads["v"], 1);
  EXPECT_THAT(order, ElementsAre(2, 3, 4, 1, 5));
}

TYPED_TEST(InterpreterTest, ParametersMustBeThereAndFit) {
  const Module module = module_of(kParameters);
  MapParameters<TypeParam> parameters;
  EXPECT_THAT(interpret<TypeParam>(module, "f", {floats<TypeParam>({2}, {0, 0})}, parameters),
              IsError(ErrorCode::kArchive, HasSubstr("parameter 'w' is not there")));
  parameters.tensors = {{"w", floats<TypeParam>({1, 2}, {1, 2})}};
  EXPECT_THAT(interpret<TypeParam>(module, "f", {floats<TypeParam>({2}, {0, 0})}, parameters),
              IsError(ErrorCode::kArchive, HasSubstr("parameter 'w': the source gives f32[1, 2], expected f32[2]")));
}

// A source whose tensors tell when the interpreter lets go of them.
template <class F>
class CountingParameters final : public ParameterSource<F> {
 public:
  Result<HostTensor<F>> load(const Parameter& parameter) const override {
    largest_ = std::max(largest_, ++*alive_);
    const std::shared_ptr<const F> values(new F[2]{1, 1}, [alive = alive_](const F* p) {
      delete[] p;
      --*alive;
    });
    return HostTensor<F>(DType::kF32, static_sizes(parameter.type.shape), values);
  }
  [[nodiscard]] int alive() const { return *alive_; }
  [[nodiscard]] int largest() const { return largest_; }

 private:
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
  mutable int largest_ = 0;
};

TYPED_TEST(InterpreterTest, ValuesAreDroppedAfterTheirLastUse) {
  constexpr int kLayers = 20;
  std::string recipes;
  std::string names;
  std::string body;
  for (int i = 0; i < kLayers; ++i) {
    recipes += fmt::format("recipe {0} {{ output \"w{0}\": f32[2] }}\n", i);
    names += fmt::format("parameter \"w{0}\": f32[2] norm {0} 0\n", i);
    body += fmt::format("  %{} = parameter() {{name = \"w{}\", dtype = f32, shape = [2]}} : f32[2]\n", i + 1, i);
  }
  for (int i = 0; i < kLayers; ++i)
    body += fmt::format("  %{} = add(%{}, %{}) : f32[2]\n", kLayers + 1 + i, i == 0 ? 0 : kLayers + i, i + 1);
  const Module module =
      module_of(recipes + names +
                fmt::format("func public \"f\"(%0 \"x\": f32[2]) -> (\"r\": f32[2]) {{\n{}  return %{}\n}}\n", body,
                            2 * kLayers));
  const CountingParameters<TypeParam> parameters;
  ASSERT_OK_AND_ASSIGN(const auto results,
                       interpret<TypeParam>(module, "f", {floats<TypeParam>({2}, {0, 0})}, parameters));
  EXPECT_THAT(results[0].floats(), ElementsAre(kLayers, kLayers));
  EXPECT_EQ(parameters.largest(), 1);
  EXPECT_EQ(parameters.alive(), 0);
}

// The same graph in both precisions: f32 values are rounded in one and not in the other.
TEST(InterpreterPrecisionTest, F64ComputesF32GraphsWithoutRounding) {
  const Module module = module_of(R"(func public "f"(%0 "x": f32[1], %1 "y": f32[1]) -> ("r": f32[1]) {
  %2 = add(%0, %1) : f32[1]
  %3 = subtract(%2, %0) : f32[1]
  return %3
}
)");
  ASSERT_OK_AND_ASSIGN(const auto narrow,
                       testing::run<float>(module, {floats<float>({1}, {0x1p30F}), floats<float>({1}, {1})}));
  ASSERT_OK_AND_ASSIGN(const auto wide,
                       testing::run<double>(module, {floats<double>({1}, {0x1p30}), floats<double>({1}, {1})}));
  EXPECT_EQ(narrow[0].floats()[0], 0);
  EXPECT_EQ(wide[0].floats()[0], 1);
}

TEST(InterpreterPrecisionTest, F64ValuesNeedF64) {
  const Module module = module_of(R"(func public "f"(%0 "x": f32[1]) -> ("r": f32[1]) {
  %1 = convert(%0) {dtype = f64} : f64[1]
  %2 = convert(%1) {dtype = f32} : f32[1]
  return %2
}
)");
  EXPECT_OK(testing::run<double>(module, {floats<double>({1}, {1})}));
  EXPECT_THAT(testing::run<float>(module, {floats<float>({1}, {1})}),
              IsError(ErrorCode::kEvaluate, "convert: a value of type f64[1] needs evaluation in f64"));
}

}  // namespace
}  // namespace headrace
