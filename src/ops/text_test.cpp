// The StableHLO text of every core op, against testdata/ops/every_op.mlir; tests/test_op_text.py shows that file to the
// parsers of jaxlib and IREE. HEADRACE_REBASE=1 rewrites it.
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "ops/ops_testing.h"
#include "stablehlo/emitter.h"

namespace headrace {
namespace {

using testing::Ints;

Type f32(Shape shape) { return {DType::kF32, std::move(shape)}; }
Type i32(Shape shape) { return {DType::kI32, std::move(shape)}; }
const Type kPred{DType::kI1, {}};

// Functions of one op each.
class Samples {
 public:
  void add(const OpDef& op, const std::vector<Type>& operands, std::vector<Attr> attrs = {},
           std::vector<GraphPtr> regions = {}, Visibility visibility = Visibility::kPublic) {
    GraphBuilder builder;
    std::vector<ValueId> values;
    for (const Type& type : operands) values.push_back(builder.input(type));
    // What has no operand takes its symbols from an argument that it does not use.
    size_t arguments = operands.size();
    if (&op == &ops::kIota) {
      builder.input(f32({Dim::symbol("n")}));
      arguments = 1;
    }
    const auto node = builder.add(op, values, std::move(attrs), std::move(regions));
    ASSERT_OK(node);
    std::vector<ValueId> results;
    for (uint32_t i = 0; i < builder.node(node->node).results.size(); ++i) results.push_back({node->node, i});
    Function function;
    function.name = fmt::format("{}_{}", op.name, module_.functions.size());
    function.visibility = visibility;
    for (size_t i = 0; i < arguments; ++i) function.arguments.push_back(fmt::format("a{}", i));
    for (size_t i = 0; i < results.size(); ++i) function.results.push_back(fmt::format("r{}", i));
    auto graph = std::move(builder).finish(results);
    ASSERT_OK(graph);
    function.graph = *graph;
    module_.functions.push_back(std::move(function));
    ops_.insert(std::string(op.name));
  }
  [[nodiscard]] std::string last() const { return module_.functions.back().name; }
  [[nodiscard]] const Module& module() const { return module_; }
  [[nodiscard]] bool covers(const OpDef& op) const { return ops_.contains(std::string(op.name)); }

 private:
  Module module_;
  std::set<std::string> ops_;
};

// Ops whose operands share one type and that have no attributes: floats where allowed, else i32, and i1 too.
void add_elementwise(Samples& s) {
  for (const OpDef* op : ops::all_ops()) {
    if (!op->attrs.empty() || op->regions != 0 || op->operands < 1 || op->level != OpLevel::kCore) continue;
    for (const Type& type : {f32({2, 3}), i32({4}), Type{DType::kI1, {}}, Type{DType::kBF16, {5}}}) {
      const std::vector<Type> operands(static_cast<size_t>(op->operands), type);
      if (testing::infer(*op, operands)) s.add(*op, operands);
    }
  }
  s.add(ops::kClamp, {f32({}), f32({2, 3}), f32({})});
  s.add(ops::kSelect, {Type{DType::kI1, {2}}, f32({2}), f32({2})});
  s.add(ops::kSelect, {kPred, f32({2}), f32({2})});
  for (const char* direction : {"EQ", "NE", "LT", "LE", "GT", "GE"})
    for (const DType dtype : {DType::kF32, DType::kI32, DType::kI1})
      s.add(ops::kCompare, {Type{dtype, {2}}, Type{dtype, {2}}}, {direction});
  s.add(ops::kOptimizationBarrier, {f32({2}), i32({})});
  s.add(ops::kConvert, {f32({2})}, {DType::kI8});
  s.add(ops::kConvert, {Type{DType::kI1, {2}}}, {DType::kF32});
  s.add(ops::kBitcastConvert, {f32({2})}, {DType::kI32});
  s.add(ops::kBitcastConvert, {Type{DType::kI8, {3, 2}}}, {DType::kF16});
  s.add(ops::kBitcastConvert, {i32({3})}, {DType::kI8});
}

void add_shapes(Samples& s) {
  s.add(ops::kConstant, {}, {Literal::filled(DType::kF32, {2, 3}, 0.1)});
  s.add(ops::kConstant, {}, {Literal::of_ints(DType::kI32, {2, 2}, {1, -2, 3, 4})});
  s.add(ops::kIota, {}, {DType::kI32, Shape{2, 3}, int64_t{1}});
  s.add(ops::kBroadcastInDim, {f32({3, 1})}, {Shape{2, 3, 4}, Ints{1, 2}});
  s.add(ops::kBroadcastInDim, {f32({})}, {Shape{2}, Ints{}});
  s.add(ops::kReshape, {f32({2, 3})}, {Shape{6}});
  s.add(ops::kTranspose, {f32({2, 3})}, {Ints{1, 0}});
  s.add(ops::kSlice, {f32({4, 9})}, {Shape{1, 0}, Shape{3, 9}, Ints{1, 4}});
  s.add(ops::kSlice, {f32({})}, {Shape{}, Shape{}, Ints{}});
  s.add(ops::kConcatenate, {f32({2, 3}), f32({2, 4})}, {int64_t{1}});
  s.add(ops::kPad, {f32({2, 3}), f32({})}, {Ints{1, -1}, Ints{0, 2}, Ints{0, 1}});
  s.add(ops::kGetDimensionSize, {f32({2, 3})}, {int64_t{1}});
}

// With symbolic dims, as iree takes them.
void add_symbolic(Samples& s) {
  const Dim n = Dim::symbol("n");
  s.add(ops::kIota, {}, {DType::kI32, Shape{2, n}, int64_t{1}});
  s.add(ops::kIota, {}, {DType::kI32, Shape{n + n + 1}, int64_t{0}});
  s.add(ops::kBroadcastInDim, {f32({1, n, 3})}, {Shape{4, 2, n, 3}, Ints{1, 2, 3}});
  s.add(ops::kBroadcastInDim, {f32({1, n})}, {Shape{n, n}, Ints{0, 1}});
  s.add(ops::kSlice, {f32({1, n, 8})}, {Shape{0, 0, 1}, Shape{1, n, 8}, Ints{1, 1, 2}});
  s.add(ops::kTranspose, {f32({2, n})}, {Ints{1, 0}});
  s.add(ops::kConcatenate, {f32({2, n}), f32({2, n})}, {int64_t{1}});
  s.add(ops::kPad, {f32({2, n}), f32({})}, {Ints{0, 1}, Ints{0, 0}, Ints{0, 0}});
  s.add(ops::kGetDimensionSize, {f32({2, n})}, {int64_t{1}});
  s.add(ops::kConvert, {f32({n})}, {DType::kI32});
  s.add(ops::kAdd, {f32({n}), f32({n})});
  s.add(ops::kCompare, {f32({n}), f32({n})}, {"LT"});
  s.add(ops::kSelect, {Type{DType::kI1, {n}}, f32({n}), f32({n})});
  s.add(ops::kDotGeneral, {f32({1, n, 4}), f32({1, 5, 4})}, {Ints{0}, Ints{0}, Ints{2}, Ints{2}, DType::kF32});
  s.add(ops::kDotGeneral, {f32({1, 3, 2, n, 4}), f32({1, 3, n, 4})},
        {Ints{0, 1}, Ints{0, 1}, Ints{4}, Ints{3}, DType::kF32});
  s.add(ops::kGather, {f32({6, 4}), i32({2, n})}, {Ints{2}, Ints{0}, Ints{0}, int64_t{2}, Ints{1, 4}});
  s.add(ops::kReduce, {f32({n, 3}), f32({})}, {int64_t{1}, Ints{0}}, {testing::body_of(ops::kAdd, f32({}))});
}

void add_contractions(Samples& s) {
  s.add(ops::kDotGeneral, {f32({2, 3, 4}), f32({2, 5, 4})}, {Ints{0}, Ints{0}, Ints{2}, Ints{2}, DType::kF32});
  s.add(ops::kDotGeneral, {f32({3, 4}), f32({5, 4})}, {Ints{}, Ints{}, Ints{1}, Ints{1}, DType::kF32});
  s.add(ops::kDotGeneral, {f32({3}), f32({5})}, {Ints{}, Ints{}, Ints{}, Ints{}, DType::kF32});
  s.add(ops::kDotGeneral, {Type{DType::kBF16, {3, 4}}, Type{DType::kBF16, {5, 4}}},
        {Ints{}, Ints{}, Ints{1}, Ints{1}, DType::kF32});
  s.add(ops::kDynamicSlice, {f32({4, 5}), i32({}), i32({})}, {Ints{1, 5}});
  s.add(ops::kDynamicUpdateSlice, {f32({4, 5}), f32({1, 2}), i32({}), i32({})});
  s.add(ops::kGather, {f32({6, 4}), i32({2, 3})}, {Ints{2}, Ints{0}, Ints{0}, int64_t{2}, Ints{1, 4}});
  s.add(ops::kGather, {f32({6, 4}), i32({5, 2})}, {Ints{}, Ints{0, 1}, Ints{0, 1}, int64_t{1}, Ints{1, 1}});
  const Type reduced{DType::kF32, {}};
  for (const OpDef* op : {&ops::kAdd, &ops::kMaximum, &ops::kMinimum, &ops::kMultiply})
    s.add(ops::kReduce, {f32({2, 3}), f32({})}, {int64_t{1}, Ints{1}}, {testing::body_of(*op, reduced)});
  s.add(ops::kReduce, {Type{DType::kI1, {2, 3}}, kPred}, {int64_t{1}, Ints{0}}, {testing::body_of(ops::kOr, kPred)});
}

// The larger of two (value, index) pairs, by value.
GraphPtr argmax_body() {
  GraphBuilder b;
  const ValueId best = b.input(f32({}));
  const ValueId best_at = b.input(i32({}));
  const ValueId value = b.input(f32({}));
  const ValueId at = b.input(i32({}));
  const ValueId better = b.add(ops::kCompare, {value, best}, {"GT"}).value();
  const ValueId largest = b.add(ops::kSelect, {better, value, best}).value();
  const ValueId where = b.add(ops::kSelect, {better, at, best_at}).value();
  return std::move(b).finish({largest, where}).value();
}

GraphPtr one_op(const OpDef& op, const std::vector<Type>& inputs, std::vector<ValueId> operands,
                std::vector<Attr> attrs = {}) {
  GraphBuilder b;
  for (const Type& type : inputs) b.input(type);
  const ValueId result = b.add(op, std::move(operands), std::move(attrs)).value();
  return std::move(b).finish({result}).value();
}

void add_control(Samples& s) {
  const Type x = i32({});
  s.add(ops::kReduce, {f32({2, 3}), i32({2, 3}), f32({}), i32({})}, {int64_t{2}, Ints{1}}, {argmax_body()});
  // A body that captures: the sum of elements plus a captured value.
  s.add(ops::kReduce, {f32({2, 3}), f32({}), f32({})}, {int64_t{1}, Ints{1}},
        {one_op(ops::kClamp, {f32({}), f32({}), f32({})}, {{0, 0}, {1, 0}, {2, 0}})});
  s.add(ops::kIf, {kPred, x, x}, {},
        {one_op(ops::kAdd, {x, x}, {{0, 0}, {1, 0}}), one_op(ops::kSubtract, {x, x}, {{0, 0}, {1, 0}})});
  s.add(ops::kWhile, {x, x}, {int64_t{1}},
        {one_op(ops::kCompare, {x, x}, {{0, 0}, {1, 0}}, {"LT"}), one_op(ops::kMultiply, {x, x}, {{0, 0}, {1, 0}})});
  s.add(ops::kAdd, {x, x}, {}, {}, Visibility::kPrivate);
  s.add(ops::kCall, {x, x}, {s.last(), std::vector<Type>{x}});
}

TEST(OpText, EveryCoreOp) {
  Samples samples;
  add_elementwise(samples);
  add_shapes(samples);
  add_contractions(samples);
  add_control(samples);
  add_symbolic(samples);
  for (const OpDef* op : ops::all_ops()) EXPECT_TRUE(op->hlo == nullptr || samples.covers(*op)) << op->name;
  const auto text = emit_iree(samples.module());
  ASSERT_OK(text);
  const std::string path = HEADRACE_TESTDATA "/ops/every_op.mlir";
  if (std::getenv("HEADRACE_REBASE") != nullptr) std::ofstream(path) << *text;
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(*text, golden.str());
}

}  // namespace
}  // namespace headrace
