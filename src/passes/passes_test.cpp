#include "base/testing.h"
#include "interp/interpreter_testing.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "passes/combine.h"
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
func private "block"(%0 "x": f32[1, seq, 4]) -> ("q": f32[1, 3, 1, seq, 2], "k": f32[1, 3, seq, 2]) {
  %1 = parameter() {name = "w", dtype = f32, shape = [6, 4]} : f32[6, 4]
  %2 = linear(%0, %1) {split_heads = [3, 1], merge_heads = []} : f32[1, 3, 1, seq, 2] @ "blk.0.attn.q"
  %3 = linear(%0, %1) {split_heads = [3], merge_heads = []} : f32[1, 3, seq, 2] @ "blk.0.attn.k"
  return %2, %3
}
func public "f"(%0 "x": f32[1, seq, 4]) -> ("y": f32[1, 3, 1, seq, 2]) {
  %1 = call(%0) {callee = "block", results = (f32[1, 3, 1, seq, 2], f32[1, 3, seq, 2])} : f32[1, 3, 1, seq, 2], f32[1, 3, seq, 2]
  %2 = iota() {dtype = i32, shape = [1, seq], dim = 1} : i32[1, seq]
  %3 = attend(%1#0, %1#1, %1#1, %2, %2) {scale = 0.5, softcap = 20, window = 2} : f32[1, 3, 1, seq, 2]
  %4 = constant() {value = dense f32[2] [2, 2]} : f32[2]
  %5 = broadcast_in_dim(%4) {shape = [1, 3, 1, seq, 2], dims = [4]} : f32[1, 3, 1, seq, 2]
  %6 = multiply(%3, %5) : f32[1, 3, 1, seq, 2]
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

std::vector<double> evaluated(const Module& m) {
  std::vector<double> x;
  for (int i = 0; i < 20; ++i) x.push_back(0.2 * (i % 9) - 0.7);
  auto out = interpret<double>(m, "f", {testing::floats<double>({1, 5, 4}, x)}, weights());
  if (!out) throw InternalError(out.error().text());
  return {out->at(0).floats().begin(), out->at(0).floats().end()};
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
    for (const WeightForm form : forms) {
      for (const Engine engine : {Engine::kIree, Engine::kXla})
        for (const Rows rows : {Rows::kOne, Rows::kFew, Rows::kMany})
          EXPECT_NE(choose_expansion(op->name, engine, form, rows), nullptr) << op->name;
      EXPECT_NE(choose_expansion(op->name, Engine::kIree, form, Rows::kSymbolic), nullptr) << op->name;
      EXPECT_EQ(choose_expansion(op->name, Engine::kXla, form, Rows::kSymbolic), nullptr) << op->name;
    }
  }
  for (const Expansion& row : expansion_table()) {
    EXPECT_GE(row.ratio, 1.0) << row.op << " " << row.name;
    EXPECT_FALSE(row.measured.empty()) << row.op << " " << row.name;
    EXPECT_NE(row.expand, nullptr);
  }
}

// Every structured op in every shape that models use: plain, split and merged by one factor and by two, with and
// without bias, a batch of two; grouped attention with window and softcap.
constexpr std::string_view kStructured = R"(
symbol seq [1, 8]
recipe 0 { step copy output "w": f32[12, 8] }
parameter "w": f32[12, 8] matmul 0 0
func public "f"(%0 "x": f32[B, seq, 8]) -> ("a": f32[B, seq, 12], "b": f32[B, seq, 12], "c": f32[B, seq, 8], "d": f32[B, 2, 2, seq, 2], "e": f32[B, seq, 12], "g": f32[B, 3, 2, seq, 2]) {
  %1 = parameter() {name = "w", dtype = f32, shape = [12, 8]} : f32[12, 8]
  %2 = constant() {value = dense f32[12] [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]} : f32[12]
  %3 = linear(%0, %1, %2) {split_heads = [], merge_heads = []} : f32[B, seq, 12]
  %4 = linear(%0, %1) {split_heads = [3], merge_heads = []} : f32[B, 3, seq, 4]
  %5 = linear(%0, %1, %2) {split_heads = [3, 2], merge_heads = []} : f32[B, 3, 2, seq, 2]
  %6 = transpose(%1) {permutation = [1, 0]} : f32[8, 12]
  %7 = linear(%4, %6) {split_heads = [], merge_heads = [3]} : f32[B, seq, 8]
  %8 = linear(%5, %6) {split_heads = [2, 2], merge_heads = [3, 2]} : f32[B, 2, 2, seq, 2]
  %9 = iota() {dtype = i32, shape = [B, seq], dim = 1} : i32[B, seq]
  %10 = embedding(%1, %9) : f32[B, seq, 8]
  %11 = linear(%10, %1) {split_heads = [], merge_heads = []} : f32[B, seq, 12]
  %12 = linear(%0, %1) {split_heads = [6], merge_heads = []} : f32[B, 6, seq, 2]
  %13 = slice(%12) {start = [0, 0, 0, 0], limit = [B, 3, seq, 2], stride = [1, 1, 1, 1]} : f32[B, 3, seq, 2]
  %14 = attend(%5, %13, %13, %9, %9) {scale = 0.5, softcap = 20, window = 3} : f32[B, 3, 2, seq, 2]
  %15 = linear(%14, %6) {split_heads = [], merge_heads = [3, 2]} : f32[B, seq, 8]
  %16 = linear(%15, %1) {split_heads = [], merge_heads = []} : f32[B, seq, 12]
  return %3, %11, %7, %8, %16, %14
})";

std::vector<std::vector<double>> structured_values(const Module& m, int64_t batch, int64_t length) {
  testing::MapParameters<double> parameters;
  std::vector<double> w;
  for (int i = 0; i < 96; ++i) w.push_back(0.1 * (i % 7) - 0.3);
  parameters.tensors["w"] = testing::floats<double>({12, 8}, w);
  std::vector<double> x;
  for (int64_t i = 0; i < batch * length * 8; ++i) x.push_back(0.2 * static_cast<double>(i % 9) - 0.7);
  auto out = interpret<double>(m, "f", {testing::floats<double>({batch, length, 8}, x)}, parameters);
  if (!out) throw InternalError(out.error().text());
  std::vector<std::vector<double>> values;
  for (const auto& tensor : *out) values.emplace_back(tensor.floats().begin(), tensor.floats().end());
  return values;
}

// With weights of another form, made from the f32 ones by converts: any spelling meets the same numbers. What an
// embedding gives is made f32 again.
Result<Module> in_form(const Module& module, WeightForm form) {
  if (form == WeightForm::kNone || form == WeightForm::kF32) return module;
  const DType dtype = form == WeightForm::kBF16 ? DType::kBF16 : DType::kF16;
  return rewrite(module, [dtype](GraphBuilder& b, const RewriteSite& site) -> Result<std::vector<ValueId>> {
    const Node& n = site.old.nodes()[site.node];
    const bool linear = n.op == &ops::kLinear;
    if (!linear && n.op != &ops::kEmbedding) return std::vector<ValueId>{};
    std::vector<ValueId> operands(site.operands.begin(), site.operands.end());
    HR_TRY(operands[linear ? 1 : 0], b.add(ops::kConvert, {operands[linear ? 1 : 0]}, {dtype}));
    HR_TRY(ValueId y, b.add(*n.op, std::move(operands), n.attrs));
    if (!linear) {
      HR_TRY(y, b.add(ops::kConvert, {y}, {DType::kF32}));
    }
    return std::vector{y};
  });
}

// One op's uses by one spelling, the other ops left as they are.
Result<Module> spelt(const Module& module, const Expansion& row) {
  return rewrite(module, [&](GraphBuilder& b, const RewriteSite& site) {
    const Node& n = site.old.nodes()[site.node];
    if (n.op->level == OpLevel::kStructured && n.op->name == row.op) return row.expand(b, site);
    return Result<std::vector<ValueId>>(std::vector<ValueId>{});
  });
}

Module structured(int64_t batch) {
  std::string text(kStructured);
  for (size_t at = text.find("[B,"); at != std::string::npos; at = text.find("[B,", at))
    text.replace(at, 2, fmt::format("[{}", batch));
  return module_of(text);
}

// The module that a row is for: one row of activations is a batch of one too.
Result<Module> module_for(const Expansion& row) {
  HR_TRY(const Module symbolic, in_form(structured(row.rows == Rows::kOne ? 1 : 2), row.form));
  if (row.rows == Rows::kSymbolic) return symbolic;
  return specialise(symbolic, {.engine = row.engine, .symbols = {{"seq", row.rows == Rows::kOne ? 1 : 5}}});
}

TEST(Expansions, EverySpellingKeepsTheValueAndRoundsNoActivation) {
  for (const Expansion& row : expansion_table()) {
    ASSERT_OK_AND_ASSIGN(const Module before, module_for(row));
    const bool one = row.rows == Rows::kOne;
    const auto expected = structured_values(before, one ? 1 : 2, one ? 1 : 5);
    ASSERT_OK_AND_ASSIGN(const Module after, spelt(before, row));
    EXPECT_FALSE(has_op(*after.functions[0].graph, row.op));
    const auto got = structured_values(after, one ? 1 : 2, one ? 1 : 5);
    ASSERT_EQ(got.size(), expected.size());
    for (size_t r = 0; r < got.size(); ++r) {
      ASSERT_EQ(got[r].size(), expected[r].size());
      for (size_t i = 0; i < got[r].size(); ++i)
        EXPECT_NEAR(got[r][i], expected[r][i], 1e-12) << row.op << " " << row.name << " " << r << " " << i;
    }
  }
}

TEST(Expansions, SymbolicSpellingsReshapeNoSymbolicDim) {
  ASSERT_OK_AND_ASSIGN(const Module after, run_pipeline(structured(1), {.engine = Engine::kIree}));
  for (const Node& n : after.functions[0].graph->nodes())
    EXPECT_FALSE(n.op->name == "reshape" && !is_static(n.results[0].shape)) << to_string(n.results[0]);
}

TEST(Combine, FunctionsAndTheirCallsCarryTheValues) {
  const Module symbolic = module_of(std::string(kModule));
  std::vector<Specialised> parts;
  for (const int64_t length : {5, 7}) {
    const SymbolValues values{{"seq", length}};
    ASSERT_OK_AND_ASSIGN(Module part, specialise(symbolic, {.engine = Engine::kIree, .symbols = values}));
    parts.push_back({.module = std::move(part), .values = values});
  }
  ASSERT_OK_AND_ASSIGN(const Module both, combine(parts));
  ASSERT_OK(verify(both));
  for (const char* name : {"f.5", "f.7", "block.5", "block.7"}) EXPECT_NE(both.find(name), nullptr) << name;
  EXPECT_EQ(both.find("f"), nullptr);
  EXPECT_EQ(both.parameters, symbolic.parameters);
  const auto arguments = std::vector{testing::floats<double>({1, 7, 4}, std::vector<double>(28, 0.5))};
  auto got = interpret<double>(both, "f.7", arguments, weights());
  auto wanted = interpret<double>(symbolic, "f", arguments, weights());
  ASSERT_OK(got);
  ASSERT_OK(wanted);
  EXPECT_EQ(std::vector<double>(got->at(0).floats().begin(), got->at(0).floats().end()),
            std::vector<double>(wanted->at(0).floats().begin(), wanted->at(0).floats().end()));
  // Alone, a module keeps its names.
  ASSERT_OK_AND_ASSIGN(const Module alone, combine(std::span(parts).first(1)));
  EXPECT_NE(alone.find("f"), nullptr);
  parts[1].module.parameters.clear();
  EXPECT_THAT(combine(parts), IsError(ErrorCode::kPass, HasSubstr("the specialisation '.7' has other parameters")));
}

TEST(Expansions, AWindowWiderThanAnyPositionIsNoWindow) {
  const auto with_window = [](std::string_view window) {
    return module_of(fmt::format(R"(
func public "f"(%0 "q": f32[1, 1, 1, 3, 2], %1 "k": f32[1, 1, 3, 2], %2 "p": i32[1, 3]) -> ("y": f32[1, 1, 1, 3, 2]) {{
  %3 = attend(%0, %1, %1, %2, %2) {{scale = 1, softcap = 0, window = {}}} : f32[1, 1, 1, 3, 2]
  return %3
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
  %2 = linear(%0, %1) {split_heads = [], merge_heads = []} : f32[1, 5, 6] @ "blk.0.ffn"
  return %2
})");
  EXPECT_THAT(expand(m, kXla),
              IsError(ErrorCode::kNoExpansion, HasSubstr("blk.0.ffn: linear of f64[6, 4] has no spelling for xla")));
}

}  // namespace
}  // namespace headrace
