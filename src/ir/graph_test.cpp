#include "ir/graph.h"

#include "base/testing.h"
#include "ops/ops.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsError;

Type f32(Shape shape) { return {.dtype = DType::kF32, .shape = std::move(shape)}; }

TEST(Graph, EqualNodesAreOneNode) {
  GraphBuilder b;
  const ValueId x = b.input(f32({2}));
  ASSERT_OK_AND_ASSIGN(const ValueId a, b.add(ops::kAdd, {x, x}));
  ASSERT_OK_AND_ASSIGN(const ValueId again, b.add(ops::kAdd, {x, x}));
  ASSERT_OK_AND_ASSIGN(const ValueId other, b.add(ops::kMultiply, {x, x}));
  EXPECT_EQ(a, again);
  EXPECT_NE(a, other);
}

TEST(Graph, ConstantsAreSharedByBits) {
  GraphBuilder b;
  const auto constant = [&](double v) { return *b.add(ops::kConstant, {}, {Literal::filled(DType::kF32, {}, v)}); };
  EXPECT_EQ(constant(1.5), constant(1.5));
  EXPECT_NE(constant(0.0), constant(-0.0));
}

TEST(Graph, PlacesDoNotTakePartInIdentity) {
  GraphBuilder b;
  const ValueId x = b.input(f32({2}));
  b.set_place("first");
  ASSERT_OK_AND_ASSIGN(const ValueId a, b.add(ops::kAdd, {x, x}));
  b.set_place("second");
  ASSERT_OK_AND_ASSIGN(const ValueId again, b.add(ops::kAdd, {x, x}));
  EXPECT_EQ(a, again);
  ASSERT_OK_AND_ASSIGN(const GraphPtr g, std::move(b).finish({a}));
  EXPECT_EQ(g->place(a.node), "first");
}

TEST(Graph, FinishDropsDeadNodesAndKeepsInputs) {
  GraphBuilder b;
  const ValueId x = b.input(f32({2}));
  b.input(f32({3}));
  ASSERT_OK(b.add(ops::kMultiply, {x, x}));
  ASSERT_OK_AND_ASSIGN(const ValueId sum, b.add(ops::kAdd, {x, x}));
  ASSERT_OK_AND_ASSIGN(const GraphPtr g, std::move(b).finish({sum}));
  EXPECT_EQ(g->inputs(), 2U);
  ASSERT_EQ(g->nodes().size(), 3U);
  EXPECT_EQ(g->nodes()[2].op, &ops::kAdd);
  EXPECT_EQ(g->result_types(), std::vector{f32({2})});
}

TEST(Graph, AllOperandsThatDoNotLinkAreListedAtOnce) {
  GraphBuilder b;
  const ValueId x = b.input(f32({2}));
  EXPECT_THAT(b.add(ops::kSelect, {{.node = 7, .result = 0}, x, {.node = 0, .result = 3}}),
              IsError(ErrorCode::kVerify, AllOf(HasSubstr("operand 0 is node 7, and the graph has 1"),
                                                HasSubstr("operand 2 is result 3 of a node that has 1"))));
}

TEST(Graph, CountsOfOperandsAttributesAndRegionsAreChecked) {
  GraphBuilder b;
  const ValueId x = b.input(f32({2}));
  EXPECT_THAT(b.add(ops::kAdd, {x}), IsError(ErrorCode::kVerify, HasSubstr("1 operands, expected 2")));
  EXPECT_THAT(b.add(ops::kTranspose, {x}), IsError(ErrorCode::kVerify, HasSubstr("0 attributes, expected 1")));
  EXPECT_THAT(b.add(ops::kTranspose, {x}, {std::string("x")}),
              IsError(ErrorCode::kVerify, HasSubstr("attribute 'permutation' has kind")));
  EXPECT_THAT(b.add(ops::kReduce, {x, x}, {int64_t{1}, std::vector<int64_t>{0}}),
              IsError(ErrorCode::kVerify, HasSubstr("0 regions, expected 1")));
}

TEST(Graph, AGraphWithoutResultsIsRefused) {
  GraphBuilder b;
  b.input(f32({2}));
  EXPECT_THAT(std::move(b).finish({}), IsError(ErrorCode::kVerify, HasSubstr("at least one result")));
  GraphBuilder c;
  c.input(f32({2}));
  EXPECT_THAT(std::move(c).finish({{.node = 4, .result = 0}}),
              IsError(ErrorCode::kVerify, HasSubstr("names no value")));
}

TEST(Graph, InputsCannotBeAddedAsNodes) {
  GraphBuilder b;
  EXPECT_THAT(b.add(kInputOp, {}, {int64_t{0}}), IsError(ErrorCode::kInfer, HasSubstr("GraphBuilder::input")));
}

}  // namespace
}  // namespace headrace
