// Leaves and control flow, reductions with bodies, symbols at run time, and what contractions do with a given kernel.
#include <atomic>

#include "ops/contraction.h"
#include "ops/ops_testing.h"

namespace headrace {
namespace {

using testing::body_of;
using ::testing::ElementsAre;
using testing::evaluate;
using ::testing::HasSubstr;
using testing::infer;
using testing::Ints;
using testing::IsError;
using testing::tensor;
using testing::Tensors;
using testing::values_of;

Type f32(Shape shape) { return {DType::kF32, std::move(shape)}; }
Type i32(Shape shape) { return {DType::kI32, std::move(shape)}; }

template <class F>
class Control : public ::testing::Test {};
using Precisions = ::testing::Types<float, double>;
TYPED_TEST_SUITE(Control, Precisions);

TYPED_TEST(Control, Constant) {
  const auto out = evaluate<TypeParam>(ops::kConstant, {}, {Literal::of_ints(DType::kI32, {2}, {4, 5})});
  ASSERT_OK(out);
  EXPECT_THAT(values_of((*out)[0]), ElementsAre(4, 5));
}

TYPED_TEST(Control, ParameterIsCheckedAgainstItsType) {
  using F = TypeParam;
  const Node node{.op = &ops::kParameter,
                  .operands = {},
                  .attrs = {"w", DType::kF32, Shape{2}},
                  .regions = {},
                  .results = {f32({2})}};
  const SymbolValues symbols;
  Ints sizes{2};
  EvalContext<F> context{.node = node, .operands = {}, .result_types = node.results, .symbols = symbols};
  context.parameter = [&](const std::string& name) -> Result<HostTensor<F>> {
    EXPECT_EQ(name, "w");
    return HostTensor<F>(DType::kF32, sizes);
  };
  const auto eval = [&] {
    if constexpr (sizeof(F) == sizeof(float)) return ops::kParameter.eval_f32(context);
    if constexpr (sizeof(F) == sizeof(double)) return ops::kParameter.eval_f64(context);
  };
  EXPECT_OK(eval());
  sizes = {3};
  EXPECT_THAT(eval(), IsError(ErrorCode::kEvaluate, HasSubstr("parameter 'w' is f32[3], wanted f32[2]")));
}

TYPED_TEST(Control, CallPassesOperandsOn) {
  using F = TypeParam;
  const Node node{.op = &ops::kCall,
                  .operands = {},
                  .attrs = {"f", std::vector<Type>{f32({})}},
                  .regions = {},
                  .results = {f32({})}};
  const SymbolValues symbols;
  const Tensors<F> operands = {tensor<F>(DType::kF32, {}, {3}), tensor<F>(DType::kF32, {}, {4})};
  EvalContext<F> context{.node = node, .operands = operands, .result_types = node.results, .symbols = symbols};
  context.call = [](const std::string& name, Tensors<F> args) -> Result<Tensors<F>> {
    EXPECT_EQ(name, "f");
    return Tensors<F>{args[1]};
  };
  Result<Tensors<F>> out;
  if constexpr (sizeof(F) == sizeof(float)) out = ops::kCall.eval_f32(context);
  if constexpr (sizeof(F) == sizeof(double)) out = ops::kCall.eval_f64(context);
  ASSERT_OK(out);
  EXPECT_THAT(values_of((*out)[0]), ElementsAre(4));
}

GraphPtr one_op(const OpDef& op, const std::vector<Type>& inputs, std::vector<Attr> attrs = {}) {
  GraphBuilder b;
  for (const Type& type : inputs) b.input(type);
  const ValueId result = b.add(op, {{0, 0}, {1, 0}}, std::move(attrs)).value();
  return std::move(b).finish({result}).value();
}

TYPED_TEST(Control, IfTakesOneBranch) {
  const Type x = i32({});
  const std::vector<GraphPtr> branches = {one_op(ops::kAdd, {x, x}), one_op(ops::kMultiply, {x, x})};
  for (const bool pred : {true, false}) {
    const auto out =
        evaluate<TypeParam>(ops::kIf,
                            {tensor<TypeParam>(DType::kI1, {}, {pred ? 1.0 : 0.0}),
                             tensor<TypeParam>(DType::kI32, {}, {3}), tensor<TypeParam>(DType::kI32, {}, {5})},
                            {}, branches);
    ASSERT_OK(out);
    EXPECT_THAT(values_of((*out)[0]), ElementsAre(pred ? 8 : 15));
  }
}

TYPED_TEST(Control, WhileRepeatsWithCaptures) {
  const Type x = i32({});
  const std::vector<GraphPtr> regions = {one_op(ops::kCompare, {x, x}, {"LT"}), one_op(ops::kAdd, {x, x})};
  const auto run = [&](double start, double step) {
    return evaluate<TypeParam>(
        ops::kWhile, {tensor<TypeParam>(DType::kI32, {}, {start}), tensor<TypeParam>(DType::kI32, {}, {step})},
        {int64_t{1}}, regions);
  };
  const auto out = run(1, 5);
  ASSERT_OK(out);
  EXPECT_THAT(values_of((*out)[0]), ElementsAre(6));
  const auto none = run(7, 5);
  ASSERT_OK(none);
  EXPECT_THAT(values_of((*none)[0]), ElementsAre(7)) << "the condition is asked first";
}

TYPED_TEST(Control, BarrierIsTransparent) {
  const auto out = evaluate<TypeParam>(
      ops::kOptimizationBarrier, {tensor<TypeParam>(DType::kF32, {1}, {2}), tensor<TypeParam>(DType::kI8, {}, {3})});
  ASSERT_OK(out);
  EXPECT_THAT(values_of((*out)[0]), ElementsAre(2));
  EXPECT_THAT(values_of((*out)[1]), ElementsAre(3));
}

// Value and index of the largest element: two inputs, and a body that is not one op.
GraphPtr argmax_body() {
  GraphBuilder b;
  for (const Type& type : {f32({}), i32({}), f32({}), i32({})}) b.input(type);
  const ValueId better = b.add(ops::kCompare, {{2, 0}, {0, 0}}, {"GT"}).value();
  const ValueId value = b.add(ops::kSelect, {better, {2, 0}, {0, 0}}).value();
  const ValueId where = b.add(ops::kSelect, {better, {3, 0}, {1, 0}}).value();
  return std::move(b).finish({value, where}).value();
}

TYPED_TEST(Control, ReduceOfPairs) {
  using F = TypeParam;
  const auto out = evaluate<F>(
      ops::kReduce,
      {tensor<F>(DType::kF32, {2, 3}, {1, 9, 9, -4, -5, -3}), tensor<F>(DType::kI32, {2, 3}, {0, 1, 2, 0, 1, 2}),
       tensor<F>(DType::kF32, {}, {-1e30}), tensor<F>(DType::kI32, {}, {-1})},
      {int64_t{2}, Ints{1}}, {argmax_body()});
  ASSERT_OK(out);
  EXPECT_THAT(values_of((*out)[0]), ElementsAre(9, -3));
  EXPECT_THAT(values_of((*out)[1]), ElementsAre(1, 2));
}

// acc * captured + element: needs the right order of elements.
TYPED_TEST(Control, ReduceCapturesAndKeepsOrder) {
  using F = TypeParam;
  GraphBuilder b;
  for (int i = 0; i < 3; ++i) b.input(f32({}));
  const ValueId scaled = b.add(ops::kMultiply, {{0, 0}, {2, 0}}).value();
  const ValueId sum = b.add(ops::kAdd, {scaled, {1, 0}}).value();
  const GraphPtr horner = std::move(b).finish({sum}).value();
  const auto out = evaluate<F>(ops::kReduce,
                               {tensor<F>(DType::kF32, {2, 3}, {1, 2, 3, 4, 5, 6}), tensor<F>(DType::kF32, {}, {0}),
                                tensor<F>(DType::kF32, {}, {10})},
                               {int64_t{1}, Ints{1}}, {horner});
  ASSERT_OK(out);
  EXPECT_THAT(values_of((*out)[0]), ElementsAre(123, 456));
}

// A one-op body is evaluated directly; one more node that changes nothing has the body run element by element.
TYPED_TEST(Control, DirectReductionEqualsTheBody) {
  using F = TypeParam;
  for (const OpDef* op : {&ops::kAdd, &ops::kMaximum, &ops::kMinimum, &ops::kMultiply}) {
    GraphBuilder b;
    const Type scalar{DType::kBF16, {}};
    const ValueId acc = b.input(scalar);
    const ValueId element = b.input(scalar);
    const ValueId value = b.add(*op, {acc, element}).value();
    const ValueId same = b.add(ops::kMaximum, {value, value}).value();
    const GraphPtr slow = std::move(b).finish({same}).value();
    const Tensors<F> operands = {tensor<F>(DType::kBF16, {2, 4}, {1.1, 2.2, -3.3, 0.7, 5.5, 6.1, 0.01, 100}),
                                 tensor<F>(DType::kBF16, {}, {1.5})};
    const auto direct = evaluate(ops::kReduce, operands, {int64_t{1}, Ints{1}}, {body_of(*op, scalar)});
    const auto by_body = evaluate(ops::kReduce, operands, {int64_t{1}, Ints{1}}, {slow});
    ASSERT_OK(direct);
    ASSERT_OK(by_body);
    EXPECT_EQ(values_of((*direct)[0]), values_of((*by_body)[0])) << op->name;
  }
}

TYPED_TEST(Control, SliceByRunTimeSymbols) {
  using F = TypeParam;
  const Dim past = Dim::symbol("past");
  const Dim seq = Dim::symbol("seq");
  const std::vector<Attr> attrs = {Shape{past}, Shape{past + seq}, Ints{1}};
  const auto types = infer(ops::kSlice, {f32({past + seq})}, attrs);
  ASSERT_OK(types);
  EXPECT_EQ((*types)[0], f32({seq}));
  const Node node{.op = &ops::kSlice, .operands = {}, .attrs = attrs, .regions = {}, .results = *types};
  testing::Evaluation<F> evaluation{.symbols = {{"past", 2}, {"seq", 3}}};
  const auto out = evaluation.node(node, {tensor<F>(DType::kF32, {5}, {0, 1, 2, 3, 4})});
  ASSERT_OK(out);
  EXPECT_THAT(values_of((*out)[0]), ElementsAre(2, 3, 4));
}

TYPED_TEST(Control, EmbeddingNamesTheIdOutside) {
  using F = TypeParam;
  const auto table = tensor<F>(DType::kF32, {3, 1}, {5, 6, 7});
  for (const double id : {-1.0, 3.0})
    EXPECT_THAT(evaluate<F>(ops::kEmbedding, {table, tensor<F>(DType::kI32, {1, 2}, {0, id})}),
                IsError(ErrorCode::kEvaluate, HasSubstr(fmt::format("id {} is not in the vocabulary of 3", id))));
}

std::atomic<int> kernel_calls = 0;

template <class F>
void counting_kernel(const Contraction<F>& c) {
  ++kernel_calls;
  ops::contract_loop(c);
}

// Every contraction of floats goes through the kernel when there is one; strides and results are the same.
TYPED_TEST(Control, KernelsAreUsed) {
  using F = TypeParam;
  const auto x = tensor<F>(DType::kF32, {1, 2, 3}, {1, 2, 3, 4, 5, 6});
  const auto w = tensor<F>(DType::kF32, {2, 3}, {1, 0, 2, -1, 3, 1});
  const std::vector<Attr> dot = {Ints{}, Ints{}, Ints{2}, Ints{1}, DType::kF32};
  kernel_calls = 0;
  const auto by_kernel = evaluate<F>(ops::kDotGeneral, {x, w}, dot, {}, counting_kernel<F>);
  const auto linear =
      evaluate<F>(ops::kLinear, {x, w}, {std::vector<int64_t>{}, std::vector<int64_t>{}}, {}, counting_kernel<F>);
  ASSERT_OK(by_kernel);
  ASSERT_OK(linear);
  EXPECT_EQ(kernel_calls, 2);
  EXPECT_THAT(values_of((*by_kernel)[0]), ElementsAre(7, 8, 16, 17));
  EXPECT_EQ(values_of((*linear)[0]), values_of((*by_kernel)[0]));
}

}  // namespace
}  // namespace headrace
