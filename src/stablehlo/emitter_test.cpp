// The text itself; that engines take it is tested in tests/engines.
#include "stablehlo/emitter.h"

#include <limits>

#include "base/testing.h"
#include "ir/parse.h"
#include "ops/ops.h"
#include "stablehlo/text.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using ::testing::Not;

Module parsed(std::string_view body) {
  auto module = parse_module("headrace.module 1 \"m\"\n" + std::string(body), ops::lookup);
  if (!module) throw InternalError(module.error().text());
  return *std::move(module);
}

constexpr std::string_view kTwoParameters = R"(
recipe 0 { step copy output "b w": f32[2] }
recipe 1 { step copy output "score": f32[2] }
parameter "b w": f32[2] norm 0 0
parameter "score": f32[2] norm 1 0
func public "score"(%0 "x": f32[2], %1 "cache": f32[2]) -> ("y": f32[2], "cache": f32[2]) state (1 = 1) {
  %2 = parameter() {name = "score", dtype = f32, shape = [2]} : f32[2]
  %3 = parameter() {name = "b w", dtype = f32, shape = [2]} : f32[2]
  %4 = multiply(%0, %2) : f32[2] @ "blk.0"
  %5 = add(%4, %3) : f32[2]
  %6 = add(%5, %1) : f32[2]
  return %5, %6
})";

TEST(Emitter, XlaTakesWeightsAsArgumentsInTheRecordedOrderAndDonatesState) {
  const Module m = parsed(kTwoParameters);
  ASSERT_OK_AND_ASSIGN(const XlaProgram program, emit_xla(m, m.functions[0]));
  EXPECT_THAT(program.parameters, ElementsAre("score", "b w"));
  EXPECT_THAT(program.text,
              HasSubstr("func.func public @main(\n      %arg0: tensor<2xf32> loc(\"x\"),\n      %arg1: tensor<2xf32> "
                        "{tf.aliasing_output = 1 : i32} loc(\"cache\"),\n      %arg2: tensor<2xf32> loc(\"score\"),\n"
                        "      %arg3: tensor<2xf32> loc(\"b w\"))"));
  EXPECT_THAT(program.text, HasSubstr("stablehlo.multiply %arg0, %arg2 : tensor<2xf32> loc(\"blk.0\")"));
}

TEST(Emitter, IreeTakesWeightsAsGlobalsWhoseSymbolsCannotClash) {
  ASSERT_OK_AND_ASSIGN(const std::string text, emit_iree(parsed(kTwoParameters)));
  EXPECT_THAT(
      text,
      HasSubstr("util.global private @parameter.score = #flow.parameter.named<\"model\"::\"score\"> : tensor<2xf32>"));
  EXPECT_THAT(text, HasSubstr("util.global private @\"parameter.b w\" = #flow.parameter.named<\"model\"::\"b w\">"));
  // The cache is replaced by one of its type.
  EXPECT_THAT(text, HasSubstr("func.func public @score(%arg0: tensor<2xf32> loc(\"x\"), %arg1: tensor<2xf32> "
                              "{iree.abi.consume} loc(\"cache\"))"));
  EXPECT_THAT(text, HasSubstr("util.global.load @parameter.score : tensor<2xf32>"));
}

TEST(Emitter, WhatThePipelineLeftOverIsAnErrorNotAStandIn) {
  const Module structured = parsed(
      "func public \"f\"(%0 \"x\": f32[1, 2, 4], %1 \"w\": f32[6, 4]) -> (\"y\": f32[1, 2, 6]) {"
      " %2 = linear(%0, %1) {split_heads = [], merge_heads = []} : f32[1, 2, 6] @ \"blk.1.ffn\" return %2 }");
  EXPECT_THAT(emit_iree(structured),
              IsError(ErrorCode::kEmit, HasSubstr("function 'f': blk.1.ffn: linear has no StableHLO form")));
  EXPECT_THAT(emit_xla(structured, structured.functions[0]), IsError(ErrorCode::kEmit, HasSubstr("linear")));
  const Module symbolic = parsed(
      "symbol n [1, 4] func public \"f\"(%0 \"x\": f32[n]) -> (\"y\": f32[n]) { %1 = add(%0, %0) : f32[n] return %1 }");
  EXPECT_THAT(emit_xla(symbolic, symbolic.functions[0]),
              IsError(ErrorCode::kEmit, HasSubstr("argument 'x' is f32[n]: specialise first")));
  // In a region as well.
  const Module inner = parsed(R"(
symbol n [1, 4]
func public "f"(%0 "p": i1[]) -> ("y": f32[]) {
  %1 = if(%0) region () {
    %0 = iota() {dtype = f32, shape = [n], dim = 0} : f32[n]
    %1 = constant() {value = splat f32[] 0} : f32[]
    %2 = reduce(%0, %1) {inputs = 1, dims = [0]} region (%0: f32[], %1: f32[]) {
      %2 = add(%0, %1) : f32[]
      return %2
    } : f32[]
    return %2
  } region () {
    %0 = constant() {value = splat f32[] 0} : f32[]
    return %0
  } : f32[]
  return %1
})");
  EXPECT_THAT(emit_xla(inner, inner.functions[0]), IsError(ErrorCode::kEmit, HasSubstr("f32[n]")));
  // No argument has that dim: its value is not to be had.
  EXPECT_THAT(emit_iree(inner), IsError(ErrorCode::kEmit, HasSubstr("no argument tells the value of symbol 'n'")));
}

TEST(Emitter, SymbolicDimsTakeDynamicFormsForIree) {
  ASSERT_OK_AND_ASSIGN(const std::string text, emit_iree(parsed(R"(
symbol n [1, 4]
symbol m [1, 4]
func public "f"(%0 "x": f32[n, 3], %1 "y": f32[m + 2]) -> ("a": f32[2, n, 3], "b": i32[2*n + m], "c": f32[n, 2]) {
  %2 = broadcast_in_dim(%0) {shape = [2, n, 3], dims = [1, 2]} : f32[2, n, 3]
  %3 = iota() {dtype = i32, shape = [m + 2*n], dim = 0} : i32[m + 2*n]
  %4 = slice(%0) {start = [0, 1], limit = [n, 3], stride = [1, 1]} : f32[n, 2]
  return %2, %3, %4
})")));
  EXPECT_THAT(text, HasSubstr("%0 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<?x3xf32>) -> tensor<i32>"));
  EXPECT_THAT(text, HasSubstr("get_dimension_size %arg1, dim = 0"));
  EXPECT_THAT(text, HasSubstr("stablehlo.subtract"));  // m is the dim less 2
  EXPECT_THAT(text, HasSubstr("broadcast_dimensions = array<i64: 1, 2>, known_expanding_dimensions = array<i64>, "
                              "known_nonexpanding_dimensions = array<i64: 0, 1>"));
  EXPECT_THAT(text, HasSubstr("stablehlo.dynamic_iota"));
  EXPECT_THAT(text, HasSubstr("stablehlo.multiply"));  // 2*n
  EXPECT_THAT(text, HasSubstr("stablehlo.real_dynamic_slice %arg0"));
}

TEST(Emitter, AShapeIsComputedOnceInABlockAndNotTakenOutOfARegion) {
  ASSERT_OK_AND_ASSIGN(const std::string text, emit_iree(parsed(R"(
symbol n [1, 4]
func public "f"(%0 "p": i1[], %1 "x": f32[n]) -> ("y": f32[2, n], "z": f32[2, n]) {
  %2 = if(%0, %1) region (%0: f32[n]) {
    %1 = broadcast_in_dim(%0) {shape = [2, n], dims = [1]} : f32[2, n]
    %2 = iota() {dtype = f32, shape = [2, n], dim = 0} : f32[2, n]
    %3 = add(%1, %2) : f32[2, n]
    return %3
  } region (%0: f32[n]) {
    %1 = broadcast_in_dim(%0) {shape = [2, n], dims = [1]} : f32[2, n]
    return %1
  } : f32[2, n]
  %3 = broadcast_in_dim(%1) {shape = [2, n], dims = [1]} : f32[2, n]
  return %2, %3
})")));
  const auto count = [&](std::string_view what) {
    size_t found = 0;
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  EXPECT_EQ(count("stablehlo.concatenate"), 3U);  // one in each region, one after them
  EXPECT_EQ(count("get_dimension_size"), 1U);
}

TEST(Emitter, AReshapeOrUpdateOfSymbolicDimsHasNoForm) {
  const Module reshape = parsed(R"(
symbol n [1, 4]
func public "f"(%0 "x": f32[n, 3]) -> ("y": f32[3, n]) {
  %1 = reshape(%0) {shape = [3, n]} : f32[3, n] @ "blk.0"
  return %1
})");
  EXPECT_THAT(emit_iree(reshape),
              IsError(ErrorCode::kEmit, HasSubstr("function 'f': blk.0: reshape to f32[3, n]: a reshape of symbolic")));
  const Module update = parsed(R"(
symbol n [1, 4]
func public "f"(%0 "x": f32[n + 4], %1 "u": f32[n], %2 "i": i32[]) -> ("y": f32[n + 4]) {
  %3 = dynamic_update_slice(%0, %1, %2) : f32[n + 4]
  return %3
})");
  EXPECT_THAT(emit_iree(update), IsError(ErrorCode::kEmit, HasSubstr("an update of symbolic dims has no form")));
}

TEST(Emitter, PrivateFunctionsAreCalled) {
  ASSERT_OK_AND_ASSIGN(const std::string text, emit_iree(parsed(R"(
func private "main"(%0 "x": f32[2]) -> ("y": f32[2]) { %1 = add(%0, %0) : f32[2] return %1 }
func public "f"(%0 "x": f32[2]) -> ("y": f32[2]) {
  %1 = call(%0) {callee = "main", results = (f32[2])} : f32[2]
  return %1
})")));
  EXPECT_THAT(text, HasSubstr("func.func private @private.main("));
  EXPECT_THAT(text, HasSubstr("call @private.main(%arg0) : (tensor<2xf32>) -> tensor<2xf32>"));
}

// Reports of constants printed with six decimals, as integers, or in bits of another type's width.
TEST(MlirText, LiteralsAreExact_F05_H09_H11) {
  const auto f32 = [](double v) { return mlir::literal(Literal::filled(DType::kF32, {}, v)); };
  EXPECT_EQ(f32(256), "dense<2.56000000e+02> : tensor<f32>");
  EXPECT_EQ(f32(0.1F), "dense<1.00000001e-01> : tensor<f32>");
  EXPECT_EQ(f32(0), "dense<0.00000000e+00> : tensor<f32>");
  EXPECT_EQ(f32(-0.0), "dense<0x80000000> : tensor<f32>");
  EXPECT_EQ(f32(-std::numeric_limits<double>::infinity()), "dense<0xFF800000> : tensor<f32>");
  EXPECT_EQ(f32(1e-45F), "dense<0x00000001> : tensor<f32>");
  EXPECT_EQ(mlir::literal(Literal::filled(DType::kBF16, {}, -std::numeric_limits<double>::infinity())),
            "dense<0xFF80> : tensor<bf16>");
  EXPECT_EQ(mlir::literal(Literal::filled(DType::kF16, {}, -std::numeric_limits<double>::infinity())),
            "dense<0xFC00> : tensor<f16>");
  EXPECT_EQ(mlir::literal(Literal::filled(DType::kF64, {}, -std::numeric_limits<double>::infinity())),
            "dense<0xFFF0000000000000> : tensor<f64>");
  EXPECT_EQ(f32(1e-6F), "dense<9.99999997e-07> : tensor<f32>");
  EXPECT_EQ(f32(1e-12F), "dense<9.99999996e-13> : tensor<f32>");
  EXPECT_EQ(f32(1000000.5), "dense<1.00000050e+06> : tensor<f32>");
  EXPECT_EQ(f32(0.0883883461F), "dense<8.83883461e-02> : tensor<f32>");
  EXPECT_EQ(f32(3.4e38F), "dense<3.39999995e+38> : tensor<f32>");
  EXPECT_EQ(mlir::literal(Literal::filled(DType::kF16, {2}, 1.5)), "dense<0x3E00> : tensor<2xf16>");
  EXPECT_EQ(mlir::literal(Literal::of_ints(DType::kI1, {2}, {1, 0})), "dense<[true, false]> : tensor<2xi1>");
  EXPECT_EQ(mlir::literal(Literal::of_ints(DType::kI8, {2, 2}, {1, -2, 3, -4})),
            "dense<[[1, -2], [3, -4]]> : tensor<2x2xi8>");
  EXPECT_EQ(mlir::literal(Literal::of_ints(DType::kU64, {2}, {-1, INT64_MIN})),
            "dense<[18446744073709551615, 9223372036854775808]> : tensor<2xui64>");
  EXPECT_EQ(mlir::literal(Literal::of_ints(DType::kI32, {2, 0}, {})), "dense<> : tensor<2x0xi32>");
}

TEST(MlirText, SymbolsAreQuotedWhenTheyMustBe) {
  EXPECT_EQ(mlir::symbol("blk.0.attn_q.weight"), "@blk.0.attn_q.weight");
  EXPECT_EQ(mlir::symbol("a b"), "@\"a b\"");
  EXPECT_EQ(mlir::symbol("0abc"), "@\"0abc\"");
  EXPECT_EQ(mlir::symbol("a\"b\\c\n"), "@\"a\\22b\\5Cc\\0A\"");
  EXPECT_EQ(mlir::symbol(""), "@\"\"");
}

// Names that other exporters mapped to one symbol, or to none that parses.
TEST(Emitter, OddNamesStayApart_H14) {
  const std::vector<std::string> names = {"a.b", "a_b", "a b", "a\"b", "0abc", "\u00e9", "main", "f"};
  std::string head;
  std::string body;
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string quoted = names[i] == "a\"b" ? "a\\\"b" : names[i];
    head += fmt::format("recipe {} {{ step copy output \"{}\": f32[2] }}\n", i, quoted);
    body += fmt::format("  %{} = parameter() {{name = \"{}\", dtype = f32, shape = [2]}} : f32[2]\n", i + 1, quoted);
  }
  for (size_t i = 0; i < names.size(); ++i)
    head += fmt::format("parameter \"{}\": f32[2] norm {} 0\n", names[i] == "a\"b" ? "a\\\"b" : names[i], i);
  const size_t n = names.size();
  for (size_t i = 0; i < n; ++i)
    body += fmt::format("  %{} = add(%{}, %{}) : f32[2]\n", n + 1 + i, i == 0 ? 0 : n + i, i + 1);
  const Module m = parsed(fmt::format("{}func public \"f\"(%0 \"x\": f32[2]) -> (\"y\": f32[2]) {{\n{}  return %{}\n}}",
                                      head, body, 2 * n));
  ASSERT_OK_AND_ASSIGN(const std::string text, emit_iree(m));
  for (const char* symbol : {"@parameter.a.b ", "@parameter.a_b ", "@\"parameter.a b\" ", "@\"parameter.a\\22b\" ",
                             "@parameter.0abc ", "@parameter.main ", "@parameter.f ", "@\"parameter.\u00e9\" "})
    EXPECT_THAT(text, HasSubstr(fmt::format("util.global private {}=", symbol)));
  ASSERT_OK_AND_ASSIGN(const XlaProgram program, emit_xla(m, m.functions[0]));
  EXPECT_EQ(program.parameters, names);  // the map from arguments to the checkpoint's names
}

TEST(MlirText, RankZeroAndSymbolicTypes) {
  EXPECT_EQ(mlir::type({.dtype = DType::kF32, .shape = {}}), "tensor<f32>");
  EXPECT_EQ(mlir::type({.dtype = DType::kU8, .shape = {1, Dim::symbol("seq")}}), "tensor<1x?xui8>");
}

TEST(Emitter, NoCommentsOrCustomCalls) {
  ASSERT_OK_AND_ASSIGN(const std::string text, emit_iree(parsed(kTwoParameters)));
  EXPECT_THAT(text, Not(HasSubstr("//")));
  EXPECT_THAT(text, Not(HasSubstr("custom_call")));
}

}  // namespace
}  // namespace headrace
