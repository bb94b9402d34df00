#include "ir/verify.h"

#include "base/testing.h"
#include "ir/parse.h"
#include "ir/rewrite.h"
#include "ops/ops.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsError;

Module parsed(std::string_view body) {
  auto module = parse_module("headrace.module 1 \"m\"\n" + std::string(body), ops::lookup);
  if (!module) throw InternalError(module.error().text());
  return *std::move(module);
}

constexpr std::string_view kAddTwice = R"(
func public "f"(%0 "x": f32[4]) -> ("y": f32[4]) {
  %1 = add(%0, %0) : f32[4]
  %2 = add(%1, %0) : f32[4]
  return %2
})";

struct Bad {
  std::string_view name;
  std::string_view text;
  std::string_view message;
};

constexpr Bad kBad[] = {
    {"nothing computed", "func public \"f\"(%0 \"x\": f32[4]) -> (\"y\": f32[4]) { return %0 }",
     "'f' computes nothing"},
    {"symbol undeclared",
     "func public \"f\"(%0 \"x\": f32[n]) -> (\"y\": f32[n]) { %1 = add(%0, %0) : f32[n] return %1 }",
     "symbol 'n' is not declared"},
    {"symbol twice", "symbol n [1, 2] symbol n [1, 2]", "symbol 'n' is declared twice"},
    {"symbol bounds", "symbol n [3, 2]", "has bounds [3, 2]"},
    {"parameter undeclared",
     "func public \"f\"() -> (\"y\": f32[4]) { %0 = parameter() {name = \"w\", dtype = f32, shape = [4]} : f32[4] "
     "return %0 }",
     "parameter 'w' is not declared"},
    {"parameter type",
     "recipe 0 { step copy output \"w\": f32[5] } parameter \"w\": f32[5] norm 0 0\n"
     "func public \"f\"() -> (\"y\": f32[4]) { %0 = parameter() {name = \"w\", dtype = f32, shape = [4]} : f32[4] "
     "return %0 }",
     "is used as f32[4], declared as f32[5]"},
    {"parameter recipe", "parameter \"w\": f32[5] norm 3 0", "output 0 of recipe 3, which does not exist"},
    {"parameter output", "recipe 0 { step copy output \"v\": f32[5] } parameter \"w\": f32[5] norm 0 0",
     "tied to a recipe for 'v'"},
    {"parameter twice",
     "recipe 0 { step copy output \"w\": f32[5] } parameter \"w\": f32[5] norm 0 0 parameter \"w\": f32[5] norm 0 0",
     "parameter 'w' is declared twice"},
    {"function twice",
     "func public \"f\"(%0 \"x\": f32[4]) -> (\"y\": f32[4]) { %1 = add(%0, %0) : f32[4] return %1 }"
     "func public \"f\"(%0 \"x\": f32[4]) -> (\"y\": f32[4]) { %1 = add(%0, %0) : f32[4] return %1 }",
     "function 'f' is defined twice"},
    {"argument names",
     "func public \"f\"(%0 \"x\": f32[4], %1 \"x\": f32[4]) -> (\"y\": f32[4]) { %2 = add(%0, %1) : f32[4] return %2 }",
     "argument name 'x' is empty or repeated"},
    {"state range",
     "func public \"f\"(%0 \"x\": f32[4]) -> (\"y\": f32[4]) state (0 = 3) { %1 = add(%0, %0) : f32[4] return %1 }",
     "state pair (0, 3) is out of range"},
    {"state twice",
     "func public \"f\"(%0 \"x\": f32[4]) -> (\"y\": f32[4], \"z\": f32[4]) state (0 = 0, 0 = 1) { %1 = add(%0, %0) : "
     "f32[4] return %1, %1 }",
     "state pair (0, 1) shares a side with another"},
    {"negative dim",
     "func public \"f\"(%0 \"x\": f32[-4]) -> (\"y\": f32[-4]) { %1 = add(%0, %0) : f32[-4] return %1 }",
     "dim -4 is negative"},
    {"state type",
     "func public \"f\"(%0 \"x\": f32[4], %1 \"c\": f32[5]) -> (\"y\": f32[4]) state (1 = 0) { %2 = add(%0, %0) : "
     "f32[4] return %2 }",
     "differ in type"},
    {"call of nothing",
     "func public \"f\"(%0 \"x\": f32[4]) -> (\"y\": f32[4]) { %1 = call(%0) {callee = \"g\", results = (f32[4])} : "
     "f32[4] return %1 }",
     "call of 'g', which does not exist"},
    {"call signature",
     "func private \"g\"(%0 \"x\": f32[5]) -> (\"y\": f32[5]) { %1 = add(%0, %0) : f32[5] return %1 }"
     "func public \"f\"(%0 \"x\": f32[4]) -> (\"y\": f32[4]) { %1 = call(%0) {callee = \"g\", results = (f32[4])} : "
     "f32[4] return %1 }",
     "call of 'g' does not match its signature"},
    {"recursion",
     "func private \"g\"(%0 \"x\": f32[4]) -> (\"y\": f32[4]) { %1 = call(%0) {callee = \"h\", results = (f32[4])} : "
     "f32[4] return %1 }"
     "func private \"h\"(%0 \"x\": f32[4]) -> (\"y\": f32[4]) { %1 = call(%0) {callee = \"g\", results = (f32[4])} : "
     "f32[4] return %1 }",
     "calls itself"},
};

TEST(Verify, EachFaultIsNamed) {
  for (const Bad& bad : kBad)
    EXPECT_THAT(verify(parsed(bad.text)), IsError(ErrorCode::kVerify, HasSubstr(std::string(bad.message)))) << bad.name;
}

TEST(Verify, FaultsAreReportedTogether) {
  EXPECT_THAT(verify(parsed("symbol n [3, 2] parameter \"w\": f32[5] norm 3 0")),
              IsError(ErrorCode::kVerify, AllOf(HasSubstr("symbol 'n'"), HasSubstr("parameter 'w'"))));
}

TEST(Verify, NamesThatAreMissingAreFaultsLikeOthers) {
  Module module = parsed(
      "func public \"f\"(%0 \"x\": f32[4], %1 \"s\": i32[]) -> (\"y\": f32[4]) state (1 = 0) { %2 = add(%0, %0) : "
      "f32[4] return %2 }");
  module.functions[0].arguments.clear();
  EXPECT_THAT(verify(module), IsError(ErrorCode::kVerify, AllOf(HasSubstr("names 0 arguments, its graph has 2"),
                                                                HasSubstr("state argument 1 and its result differ"))));
}

TEST(Verify, CallsNestToABound) {
  for (const auto& [functions, good] : {std::pair(65, true), std::pair(66, false), std::pair(5000, false)}) {
    std::string text;
    for (int i = 0; i < functions; ++i) {
      const std::string body =
          i == 0 ? "add(%0, %0)" : fmt::format("call(%0) {{callee = \"f{}\", results = (f32[4])}}", i - 1);
      text += fmt::format("func public \"f{}\"(%0 \"x\": f32[4]) -> (\"y\": f32[4]) {{ %1 = {} : f32[4] return %1 }}\n",
                          i, body);
    }
    if (good)
      EXPECT_OK(verify(parsed(text)));
    else
      EXPECT_THAT(verify(parsed(text)), IsError(ErrorCode::kVerify, HasSubstr("nest deeper than 64")));
  }
}

TEST(Verify, AcceptsCallsWithoutRecursion) {
  EXPECT_OK(
      verify(parsed("func private \"g\"(%0 \"x\": f32[4]) -> (\"y\": f32[4]) { %1 = add(%0, %0) : f32[4] return %1 }"
                    "func public \"f\"(%0 \"x\": f32[4]) -> (\"y\": f32[4]) { %1 = call(%0) {callee = \"g\", results = "
                    "(f32[4])} : f32[4] return %1 }")));
}

TEST(Rewrite, NothingChangedIsTheSameGraph) {
  const Module module = parsed(kAddTwice);
  const GraphPtr& before = module.functions[0].graph;
  ASSERT_OK_AND_ASSIGN(const GraphPtr after, rewrite(before, [](GraphBuilder&, const RewriteSite&) {
                         return Result<std::vector<ValueId>>(std::vector<ValueId>{});
                       }));
  EXPECT_EQ(before, after);
}

TEST(Rewrite, AReplacementTakesTheNodesPlaceAndDeadNodesVanish) {
  const Module module = parsed(kAddTwice);
  // (x + x) + x -> x * x: the inner sum is not copied.
  ASSERT_OK_AND_ASSIGN(const Module after,
                       rewrite(module, [](GraphBuilder& b, const RewriteSite& site) -> Result<std::vector<ValueId>> {
                         if (site.node != 2) return std::vector<ValueId>{};
                         HR_TRY(const ValueId square, b.add(ops::kMultiply, {site.operands[1], site.operands[1]}));
                         return std::vector{square};
                       }));
  ASSERT_EQ(after.functions[0].graph->nodes().size(), 2U);
  EXPECT_EQ(after.functions[0].graph->nodes()[1].op, &ops::kMultiply);
  EXPECT_OK(verify(after));
}

TEST(Rewrite, AFaultNamesTheFunction) {
  EXPECT_THAT(rewrite(parsed(kAddTwice),
                      [](GraphBuilder&, const RewriteSite&) -> Result<std::vector<ValueId>> {
                        return fail(ErrorCode::kPass, "no");
                      }),
              IsError(ErrorCode::kPass, HasSubstr("f: no")));
}

}  // namespace
}  // namespace headrace
