// HIR text: what prints parses back to the same module, and what is wrong is refused with its place.
#include <limits>

#include "base/testing.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "ops/ops.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsError;

constexpr std::string_view kEverything = R"(headrace.module 1 "all \"kinds\" of\x0a text"
symbol past [0, 7]
symbol seq [1, 128]
recipe 0 { source "blk.0.w" "Q4_1" 0 4096 720 step decode output "blk.0.w": f32[8, 144] }
recipe 1 { step copy output "a": i8[2] output "b": f32[1] }
parameter "blk.0.w": f32[8, 144] matmul 0 0
parameter "a": i8[2] matmul 1 0
parameter "b": f32[1] scale 1 1
func private "twice"(%0 "x": f32[1, past + seq]) -> ("y": f32[1, past + seq]) {
  %1 = add(%0, %0) : f32[1, past + seq]
  return %1
}
func public "main"(%0 "x": f32[1, past + seq], %1 "n": i32[]) -> ("y": f32[1, past + seq], "n": i32[], "k": f32[1, 2*seq - 1]) state (1 = 1) {
  %2 = call(%0) {callee = "twice", results = (f32[1, past + seq])} : f32[1, past + seq] @ "blk.0.attn"
  %3 = constant() {value = splat i32[] 1} : i32[]
  %4 = while(%1, %2, %3) {carried = 2} region (%0: i32[], %1: f32[1, past + seq], %2: i32[]) {
    %3 = compare(%0, %2) {direction = "GT"} : i1[]
    return %3
  } region (%0: i32[], %1: f32[1, past + seq], %2: i32[]) {
    %3 = subtract(%0, %2) : i32[]
    %4 = negate(%1) : f32[1, past + seq]
    return %3, %4
  } : i32[], f32[1, past + seq]
  %5 = constant() {value = splat f32[] -1.5e-05} : f32[]
  %6 = broadcast_in_dim(%5) {shape = [1, 2*seq - 1], dims = []} : f32[1, 2*seq - 1]
  return %4#1, %4#0, %6
}
)";

TEST(HirText, RoundTrips) {
  ASSERT_OK_AND_ASSIGN(const Module module, parse_module(kEverything, ops::lookup));
  ASSERT_OK(verify(module));
  EXPECT_EQ(print(module), kEverything);
  ASSERT_OK_AND_ASSIGN(const Module again, parse_module(print(module), ops::lookup));
  EXPECT_EQ(again, module);
}

TEST(HirText, LiteralsReadBackBitEqual) {
  const std::vector<Literal> literals = {
      Literal::filled(DType::kF32, {}, 0.1F),
      Literal::filled(DType::kF32, {3}, -0.0),
      Literal::filled(DType::kF32, {}, 1e-45F),
      Literal::filled(DType::kF32, {}, std::numeric_limits<double>::infinity()),
      Literal::filled(DType::kF16, {}, 65504),
      Literal::filled(DType::kBF16, {2, 0}, 3.0),
      Literal::filled(DType::kF64, {}, 0.1),
      Literal::of_ints(DType::kI64, {2}, {INT64_MIN, INT64_MAX}),
      Literal::of_ints(DType::kI1, {3}, {1, 0, 1}),
      Literal::of_ints(DType::kI8, {20}, std::vector<int64_t>(20, -7)),
      {.dtype = DType::kF32,
       .sizes = {2},
       .splat = false,
       .bytes = std::make_shared<const std::vector<std::byte>>(std::vector<std::byte>(8, std::byte{0xFF}))}};
  GraphBuilder b;
  std::vector<ValueId> results;
  std::vector<std::string> names;
  for (const Literal& literal : literals) {
    ASSERT_OK_AND_ASSIGN(const ValueId id, b.add(ops::kConstant, {}, {literal}));
    results.push_back(id);
    names.push_back(fmt::format("r{}", results.size()));
  }
  ASSERT_OK_AND_ASSIGN(GraphPtr graph, std::move(b).finish(results));
  Module module{.name = "m", .symbols = {}, .recipes = {}, .parameters = {}, .functions = {}};
  module.functions.push_back(
      {.name = "f", .visibility = {}, .arguments = {}, .results = names, .state = {}, .graph = graph});
  ASSERT_OK_AND_ASSIGN(const Module again, parse_module(print(module), ops::lookup));
  EXPECT_EQ(again, module) << print(module);
}

struct Bad {
  std::string_view name;
  std::string_view text;
  std::string_view message;
};

constexpr Bad kBad[] = {
    {"empty", "", "expected 'headrace.module', found the end"},
    {"version", "headrace.module 2 \"m\"", "module text version 2"},
    {"character", "headrace.module 1 \"m\" $", "1:23: unexpected character 0x24"},
    {"string", "headrace.module 1 \"m", "a string does not end"},
    {"escape", "headrace.module 1 \"\\q\"", "unknown escape"},
    {"keyword", "headrace.module 1 \"m\" funk", "after 'funk'"},
    {"symbol", "headrace.module 1 \"m\" symbol s [1, x]", "expected an integer"},
    {"role", "headrace.module 1 \"m\" parameter \"p\": f32[1] king 0 0", "unknown role 'king'"},
    {"block_type", "headrace.module 1 \"m\" recipe 0 { source \"t\" \"Q9\" 0 0 0 }", "unknown block type 'Q9'"},
    {"step", "headrace.module 1 \"m\" recipe 0 { step fry }", "unknown recipe step 'fry'"},
    {"dtype", "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f33[1])", "'f33' is not an element type"},
    {"dim", "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[1, seq*seq])", "dim 'seq * seq'"},
    {"dim_without_sign", "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[1 2])", "dim '1 2'"},
    {"dim_value", "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[%2])", "expected a dim, found '2'"},
    {"dim_string", "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[\"seq\"])", "expected a dim, found 'seq'"},
    {"dim_empty", "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[1,,2])", "expected a dim, found ','"},
    {"dim_overflow", "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[9223372036854775807 + 1])", "overflows"},
    {"op",
     "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[1]) -> (\"y\": f32[1]) { %1 = frobnicate(%0) : f32[1] "
     "return %1 }",
     "unknown operation 'frobnicate'"},
    {"input_op", "headrace.module 1 \"m\" func public \"f\"() -> () { %0 = input() {index = 0} : f32[1] return %0 }",
     "unknown operation 'input'"},
    {"attribute",
     "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[1]) -> () { %1 = transpose(%0) {perm = [0]} : f32[1] "
     "return %1 }",
     "expected 'permutation'"},
    {"types",
     "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[1]) -> () { %1 = add(%0, %0) : f32[2] return %1 }",
     "add gives f32[1], the text says f32[2]"},
    {"results",
     "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[1]) -> (\"y\": f32[2]) { %1 = add(%0, %0) : f32[1] "
     "return %1 }",
     "are not those declared"},
    {"literal_bytes",
     "headrace.module 1 \"m\" func public \"f\"() -> () { %0 = constant() {value = dense f32[2] #00000000} : f32[2] "
     "return %0 }",
     "a literal of 2 elements has 4 bytes"},
    {"literal_size",
     "headrace.module 1 \"m\" func public \"f\"() -> () { %0 = constant() {value = dense i8[9223372036854775807, 9] "
     "#00} : i8[1] return %0 }",
     "static shape of countable size"},
    {"literal_range",
     "headrace.module 1 \"m\" func public \"f\"() -> () { %0 = constant() {value = splat i8[] 128} : i8[] return %0 }",
     "128 is out of range for i8"},
    {"literal_negative",
     "headrace.module 1 \"m\" func public \"f\"() -> () { %0 = constant() {value = dense u8[1] [-1]} : u8[1] return %0 "
     "}",
     "-1 is out of range for u8"},
    {"literal_bool",
     "headrace.module 1 \"m\" func public \"f\"() -> () { %0 = constant() {value = dense i1[2] #0102} : i1[2] return "
     "%0 }",
     "an i1 byte is 00 or 01"},
    {"twice",
     "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[1]) -> () { %1 = add(%0, %0) : f32[1] %1 = add(%0, %0) : "
     "f32[1] return %1 }",
     "value %1 is defined twice"},
    {"no_result", "headrace.module 1 \"m\" func public \"f\"(%0 \"x\": f32[1]) -> () { return }",
     "at least one result"},
};

TEST(HirText, FaultsAreRefusedWithTheirPlace) {
  for (const Bad& bad : kBad)
    EXPECT_THAT(parse_module(bad.text, ops::lookup), IsError(ErrorCode::kHirParse, HasSubstr(std::string(bad.message))))
        << bad.name;
}

TEST(HirText, EveryValueThatDoesNotLinkIsListed) {
  EXPECT_THAT(parse_module("headrace.module 1 \"m\"\nfunc public \"f\"(%0 \"x\": f32[1]) -> (\"y\": f32[1]) {\n"
                           "  %1 = add(%7, %0) : f32[1]\n  %2 = add(%1#1, %8) : f32[1]\n  return %9\n}",
                           ops::lookup),
              IsError(ErrorCode::kHirParse, AllOf(HasSubstr("3:12: value %7 is not defined"),
                                                  HasSubstr("4:12: value %1 has 1 results, not 2"),
                                                  HasSubstr("4:18: value %8"), HasSubstr("5:10: value %9"))));
}

// Each fault names its place, which costs a look at the text before it, so the first 20 are told.
TEST(HirText, OfManyFaultsTheFirstAreTold) {
  std::string text = "headrace.module 1 \"m\"\nfunc public \"f\"(%0 \"x\": f32[1]) -> (\"y\": f32[1]) {\n";
  constexpr size_t kCount = 20000;
  for (size_t i = 0; i < kCount; ++i) text += "  %1 = add(%7, %0) : f32[1]\n";
  const auto module = parse_module(text + "  return %0\n}\n", ops::lookup);
  ASSERT_FALSE(module.has_value());
  ASSERT_EQ(module.error().more.size() + 1, 20U);
  EXPECT_THAT(module.error().message, HasSubstr("3:12: value %7 is not defined before its use"));
  EXPECT_THAT(module.error().more[1], HasSubstr("4:3: value %1 is defined twice"));
}

TEST(HirText, NestingIsBounded) {
  std::string text = "headrace.module 1 \"m\" func public \"f\"(%0 \"p\": i1[]) -> () {";
  for (int i = 0; i < 5000; ++i) text += " %1 = if(%0) region () {";
  EXPECT_THAT(parse_module(text, ops::lookup), IsError(ErrorCode::kHirParse, HasSubstr("nest deeper than 32")));
}

TEST(HirText, AnyTruncationIsAnError) {
  for (size_t length = 0; length + 2 < kEverything.size(); ++length) {
    const auto module = parse_module(kEverything.substr(0, length), ops::lookup);
    // A cut between two top-level items leaves a shorter module; everything else is an error.
    if (!module) continue;
    EXPECT_TRUE(kEverything[length - 1] == '\n' || kEverything[length] == '\n' || kEverything[length - 1] == ']')
        << length;
  }
}

}  // namespace
}  // namespace headrace
