#include "base/testing.h"
#include "interp/interpreter_testing.h"
#include "ir/print.h"
#include "passes/dead_code.h"
#include "passes/expand.h"
#include "passes/inline_calls.h"
#include "passes/pipeline.h"
#include "passes/specialise.h"
#include "passes/unify_constants.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::module_of;

const PassOptions kXla{.engine = Engine::kXla, .symbols = {}};

bool has_op(const Graph& graph, std::string_view op) {
  for (const Node& n : graph.nodes()) {
    if (n.op->name == op) return true;
    for (const GraphPtr& r : n.regions)
      if (has_op(*r, op)) return true;
  }
  return false;
}

constexpr std::string_view kModule = R"(
symbol seq [1, 64]
recipe 0 { step copy output "w": f32[6, 4] }
recipe 1 { step copy output "unused": f32[2] }
parameter "unused": f32[2] norm 1 0
parameter "w": f32[6, 4] matmul 0 0
func private "orphan"(%0 "x": f32[1, seq, 4]) -> ("y": f32[1, seq, 4]) {
  %1 = negate(%0) : f32[1, seq, 4]
  return %1
}
func private "block"(%0 "x": f32[1, seq, 4]) -> ("y": f32[1, 3, seq, 2]) {
  %1 = parameter() {name = "w", dtype = f32, shape = [6, 4]} : f32[6, 4]
  %2 = linear(%0, %1) {split_heads = 3, merge_heads = 0} : f32[1, 3, seq, 2] @ "blk.0.attn.q"
  return %2
}
func public "f"(%0 "x": f32[1, seq, 4]) -> ("y": f32[1, 3, seq, 2]) {
  %1 = call(%0) {callee = "block", results = (f32[1, 3, seq, 2])} : f32[1, 3, seq, 2]
  %2 = iota() {dtype = i32, shape = [1, seq], dim = 1} : i32[1, seq]
  %3 = attend(%1, %1, %1, %2, %2) {scale = 0.5, softcap = 20, window = 2} : f32[1, 3, seq, 2]
  %4 = constant() {value = dense f32[2] [2, 2]} : f32[2]
  %5 = broadcast_in_dim(%4) {shape = [1, 3, seq, 2], dims = [3]} : f32[1, 3, seq, 2]
  %6 = multiply(%3, %5) : f32[1, 3, seq, 2]
  return %6
}
)";

testing::MapParameters<double> weights() {
  testing::MapParameters<double> out;
  std::vector<double> w;
  for (int i = 0; i < 24; ++i) w.push_back(0.1 * (i % 7) - 0.3);
  out.tensors["w"] = testing::floats<double>({6, 4}, w);
  return out;
}

// All results of "f", in one list. A symbolic length is 5.
std::vector<double> evaluated(const Module& m) {
  const Dim length = m.find("f")->graph->input_types()[0].shape[1];
  const int64_t rows = length.is_static() ? length.value() : 5;
  std::vector<double> x;
  for (int i = 0; i < 4 * rows; ++i) x.push_back(0.2 * (i % 9) - 0.7);
  const auto results = interpret<double>(m, "f", {testing::floats<double>({1, rows, 4}, x)}, weights());
  if (!results) throw InternalError(results.error().text());
  std::vector<double> out;
  for (const auto& result : *results) out.insert(out.end(), result.floats().begin(), result.floats().end());
  return out;
}

TEST(Pipeline, EveryPassOfTheTableRunsForSomeEngine) {
  for (const PassInfo& pass : pass_table()) {
    EXPECT_FALSE(pass.summary.empty()) << pass.name;
    const auto model = model_pipeline();
    bool runs = std::find(model.begin(), model.end(), pass.name) != model.end();
    for (const Engine engine : {Engine::kIree, Engine::kXla})
      for (const std::string_view name : pipeline_for(engine)) runs |= name == pass.name;
    EXPECT_TRUE(runs) << pass.name;
    EXPECT_EQ(find_pass(pass.name), &pass);
  }
  EXPECT_EQ(find_pass("nonesuch"), nullptr);
}

TEST(Pipeline, KeepsValuesAndLeavesCoreOpsOnly) {
  const Module before = module_of(std::string(kModule));
  const auto expected = evaluated(before);
  for (const Engine engine : {Engine::kIree, Engine::kXla}) {
    std::vector<std::string> seen;
    ASSERT_OK_AND_ASSIGN(const Module after,
                         run_pipeline(before, {.engine = engine, .symbols = {{"seq", 5}}},
                                      [&](std::string_view pass, const Module&) { seen.emplace_back(pass); }));
    EXPECT_EQ(std::vector<std::string_view>(seen.begin(), seen.end()), pipeline_for(engine));
    for (const Function& f : after.functions)
      for (const Node& n : f.graph->nodes()) EXPECT_EQ(n.op->level, OpLevel::kCore) << n.op->name;
    const auto got = evaluated(after);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
    // A second run changes nothing.
    ASSERT_OK_AND_ASSIGN(const Module twice, run_pipeline(after, {.engine = engine, .symbols = {}}));
    EXPECT_EQ(print(twice), print(after));
  }
}

TEST(Pipeline, AModuleThatIsNotWellFormedIsRefusedBeforeAnyPass) {
  Module bad = module_of(std::string(kModule));
  bad.functions.push_back(bad.functions.back());
  EXPECT_THAT(run_pipeline(bad, kXla), IsError(ErrorCode::kVerify, HasSubstr("defined twice")));
}

TEST(Specialise, EqualsTracingAtThatLength) {
  std::string text(kModule);
  for (size_t at = text.find("seq"); at != std::string::npos; at = text.find("seq", at + 1)) text.replace(at, 3, "5");
  text.erase(text.find("symbol"), text.find("recipe 0") - text.find("symbol"));
  ASSERT_OK_AND_ASSIGN(const Module special,
                       specialise(module_of(std::string(kModule)), {.engine = Engine::kXla, .symbols = {{"seq", 5}}}));
  EXPECT_EQ(special, module_of(text));
}

TEST(Specialise, RefusesUnknownSymbolsAndValuesOutOfBounds) {
  const Module m = module_of(std::string(kModule));
  EXPECT_THAT(specialise(m, {.engine = Engine::kXla, .symbols = {{"seq", 65}}}),
              IsError(ErrorCode::kPass, HasSubstr("symbol 'seq' is 65, expected 1 to 64")));
  EXPECT_THAT(specialise(m, {.engine = Engine::kXla, .symbols = {{"past", 1}}}),
              IsError(ErrorCode::kPass, HasSubstr("no symbol 'past'")));
}

TEST(Specialise, ADimBeyondInt64IsAnErrorOfThePass) {
  const Module m = module_of(R"(
symbol n [1, 8]
func public "f"(%0 "x": f32[4611686018427387904*n]) -> ("y": f32[4611686018427387904*n]) {
  %1 = negate(%0) : f32[4611686018427387904*n]
  return %1
})");
  EXPECT_THAT(specialise(m, {.engine = Engine::kXla, .symbols = {{"n", 2}}}),
              IsError(ErrorCode::kPass, HasSubstr("overflows")));
}

TEST(InlineCalls, LeavesNoCallAlsoInRegions) {
  const Module m = module_of(R"(
func private "inc"(%0 "x": i32[]) -> ("y": i32[]) {
  %1 = constant() {value = splat i32[] 1} : i32[]
  %2 = add(%0, %1) : i32[]
  return %2
}
func private "inc2"(%0 "x": i32[]) -> ("y": i32[]) {
  %1 = call(%0) {callee = "inc", results = (i32[])} : i32[]
  %2 = call(%1) {callee = "inc", results = (i32[])} : i32[]
  return %2
}
func public "f"(%0 "p": i1[], %1 "x": i32[]) -> ("y": i32[]) {
  %2 = if(%0, %1) region (%0: i32[]) {
    %1 = call(%0) {callee = "inc2", results = (i32[])} : i32[]
    return %1
  } region (%0: i32[]) {
    return %0
  } : i32[]
  return %2
})");
  ASSERT_OK_AND_ASSIGN(const Module after, inline_calls(m, kXla));
  for (const Function& f : after.functions) EXPECT_FALSE(has_op(*f.graph, "call")) << f.name;
  auto out = interpret<float>(after, "f", {testing::ints<float>({}, {1}, DType::kI1), testing::ints<float>({}, {40})},
                              testing::MapParameters<float>{});
  ASSERT_OK(out);
  EXPECT_EQ(out->at(0).ints()[0], 42);
}

TEST(UnifyConstants, EqualElementsBecomeOneScalar) {
  const Module m = module_of(R"(
func public "f"(%0 "x": f32[2]) -> ("y": f32[2]) {
  %1 = constant() {value = dense f32[2] [3, 3]} : f32[2]
  %2 = constant() {value = splat f32[2] 3} : f32[2]
  %3 = constant() {value = dense f32[2] [3, 4]} : f32[2]
  %4 = multiply(%1, %2) : f32[2]
  %5 = multiply(%4, %3) : f32[2]
  %6 = multiply(%5, %0) : f32[2]
  return %6
})");
  ASSERT_OK_AND_ASSIGN(const Module after, unify_constants(m, kXla));
  size_t scalars = 0;
  size_t dense = 0;
  for (const Node& n : after.functions[0].graph->nodes())
    if (n.op->name == "constant") ++(n.results[0].shape.empty() ? scalars : dense);
  EXPECT_EQ(scalars, 1U);
  EXPECT_EQ(dense, 1U);
}

TEST(DeadCode, DropsWhatNothingUses) {
  ASSERT_OK_AND_ASSIGN(const Module after, dead_code(module_of(std::string(kModule)), kXla));
  EXPECT_EQ(after.find("orphan"), nullptr);
  EXPECT_NE(after.find("block"), nullptr);
  ASSERT_EQ(after.parameters.size(), 1U);
  EXPECT_EQ(after.parameters[0].name, "w");
  EXPECT_EQ(after.parameters[0].recipe, 0U);
  ASSERT_EQ(after.recipes.size(), 1U);
  EXPECT_EQ(after.recipes[0].outputs[0].parameter, "w");
}

TEST(Expansions, TheTableCoversEveryStructuredOpForEveryEngineAndAnyRows) {
  for (const OpDef* op : ops::all_ops()) {
    if (op->level != OpLevel::kStructured) continue;
    const std::vector<WeightForm> forms = op == &ops::kAttend
                                              ? std::vector{WeightForm::kNone}
                                              : std::vector{WeightForm::kF32, WeightForm::kBF16, WeightForm::kF16};
    for (const WeightForm form : forms)
      for (const Engine engine : {Engine::kIree, Engine::kXla})
        for (const Rows rows : {Rows::kOne, Rows::kFew, Rows::kMany})
          EXPECT_NE(choose_expansion(op->name, engine, form, rows), nullptr) << op->name;
  }
  for (const Expansion& row : expansion_table()) {
    EXPECT_GE(row.ratio, 1.0) << row.op << " " << row.name;
    EXPECT_FALSE(row.measured.empty()) << row.op << " " << row.name;
    EXPECT_NE(row.expand, nullptr);
  }
}

// Every structured op that has a weight, on `rows` rows and weights of `form`. Narrow weights are made from f32 ones by
// converts, so that any spelling meets the same numbers.
Module weights_in_use(Rows rows, WeightForm form) {
  const int64_t length = rows == Rows::kOne ? 1 : 5;
  const std::string_view ids = rows == Rows::kOne ? "5" : "0, 5, 1, 1, 3";
  return module_of(fmt::format(R"(
recipe 0 {{ step copy output "w": f32[6, 4] }}
parameter "w": f32[6, 4] matmul 0 0
func public "f"(%0 "x": f32[1, {0}, 4]) -> ("y": f32[1, {0}, 4], "z": f32[1, {0}, 6]) {{
  %1 = parameter() {{name = "w", dtype = f32, shape = [6, 4]}} : f32[6, 4]
  %2 = constant() {{value = dense f32[6] [1, 2, 3, 4, 5, 6]}} : f32[6]
  %3 = convert(%1) {{dtype = {2}}} : {2}[6, 4]
  %4 = linear(%0, %3, %2) {{split_heads = 2, merge_heads = 0}} : f32[1, 2, {0}, 3]
  %5 = transpose(%3) {{permutation = [1, 0]}} : {2}[4, 6]
  %6 = linear(%4, %5) {{split_heads = 0, merge_heads = 2}} : f32[1, {0}, 4]
  %7 = constant() {{value = dense i32[1, {0}] [{1}]}} : i32[1, {0}]
  %8 = embedding(%3, %7) : {2}[1, {0}, 4]
  %9 = convert(%8) {{dtype = f32}} : f32[1, {0}, 4]
  %10 = add(%6, %9) : f32[1, {0}, 4]
  %11 = linear(%10, %3) {{split_heads = 0, merge_heads = 0}} : f32[1, {0}, 6]
  return %10, %11
}})",
                               length, ids, kWeightFormNames[static_cast<size_t>(form)]));
}

TEST(Expansions, EverySpellingKeepsTheValue) {
  for (const Expansion& row : expansion_table()) {
    if (row.op == "attend") continue;
    const Module before = weights_in_use(row.rows, row.form);
    const auto expected = evaluated(before);
    ASSERT_OK_AND_ASSIGN(const Module after, rewrite(before, [&](GraphBuilder& b, const RewriteSite& site) {
                           const Node& n = site.old.nodes()[site.node];
                           if (n.op->level == OpLevel::kStructured && n.op->name == row.op) return row.expand(b, site);
                           return Result<std::vector<ValueId>>(std::vector<ValueId>{});
                         }));
    EXPECT_FALSE(has_op(*after.functions[0].graph, row.op));
    const auto got = evaluated(after);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << row.name << " " << i;
  }
}

// What is narrow is the weight: an expansion that rounds the activations would be off by 1e-3 here.
TEST(Expansions, NoSpellingRoundsActivations) {
  for (const Engine engine : {Engine::kIree, Engine::kXla}) {
    for (const WeightForm form : {WeightForm::kBF16, WeightForm::kF16}) {
      for (const Rows rows : {Rows::kOne, Rows::kFew}) {
        const Module before = weights_in_use(rows, form);
        const auto expected = evaluated(before);
        ASSERT_OK_AND_ASSIGN(const Module after, expand(before, {.engine = engine}));
        const auto got = evaluated(after);
        for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-12) << i;
      }
    }
  }
}

TEST(Expansions, AWindowWiderThanAnyPositionIsNoWindow) {
  const auto with_window = [](std::string_view window) {
    return module_of(fmt::format(R"(
func public "f"(%0 "x": f32[1, 1, 3, 2], %1 "p": i32[1, 3]) -> ("y": f32[1, 1, 3, 2]) {{
  %2 = attend(%0, %0, %0, %1, %1) {{scale = 1, softcap = 0, window = {}}} : f32[1, 1, 3, 2]
  return %2
}})",
                                 window));
  };
  ASSERT_OK_AND_ASSIGN(const Module none, expand(with_window("0"), kXla));
  ASSERT_OK_AND_ASSIGN(const Module wide, expand(with_window("2147483648"), kXla));
  ASSERT_OK_AND_ASSIGN(const Module widest, expand(with_window("2147483647"), kXla));
  EXPECT_EQ(wide, none);
  EXPECT_NE(print(widest), print(none));
}

TEST(Expansions, AFormWithoutSpellingIsRefusedByNameAndPlace) {
  const Module m = module_of(R"(
func public "f"(%0 "x": f32[1, 5, 4], %1 "w": f64[6, 4]) -> ("y": f32[1, 5, 6]) {
  %2 = linear(%0, %1) {split_heads = 0, merge_heads = 0} : f32[1, 5, 6] @ "blk.0.ffn"
  return %2
})");
  EXPECT_THAT(expand(m, kXla),
              IsError(ErrorCode::kNoExpansion, HasSubstr("blk.0.ffn: linear of f64[6, 4] has no spelling for xla")));
}

}  // namespace
}  // namespace headrace
