// Every constraint that inference checks, provoked by operands or attributes that break it and nothing else. The
// message must end with the constraint's label; InferLabels shows that no label in the sources was left out.
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "ops/ops_testing.h"

namespace headrace {
namespace {

using testing::body_of;
using ::testing::HasSubstr;
using testing::infer;
using testing::Ints;
using testing::IsError;
using namespace ops;  // NOLINT(google-build-using-namespace): a table of ops reads better without the prefix

constexpr int64_t kHuge = int64_t{1} << 62;

Type f32(Shape shape) { return {DType::kF32, std::move(shape)}; }
Type i32(Shape shape) { return {DType::kI32, std::move(shape)}; }
Type i1(Shape shape) { return {DType::kI1, std::move(shape)}; }
Dim seq() { return Dim::symbol("seq"); }

struct Bad {
  std::string label;
  const OpDef* op;
  std::vector<Type> operands;
  std::vector<Attr> attrs = {};
  std::vector<GraphPtr> regions = {};
};

// A graph whose inputs are its results.
GraphPtr identity(const std::vector<Type>& inputs, const std::vector<uint32_t>& results) {
  GraphBuilder b;
  for (const Type& type : inputs) b.input(type);
  std::vector<ValueId> values;
  for (const uint32_t r : results) values.push_back({r, 0});
  return std::move(b).finish(values).value();
}

std::vector<Bad> leaves_and_shapes() {
  const Shape two{2};
  return {
      {"parameter_c1", &kParameter, {}, {"", DType::kF32, two}},
      {"parameter_c2", &kParameter, {}, {"w", DType::kF32, Shape{seq()}}},
      {"parameter_c2", &kParameter, {}, {"w", DType::kF32, Shape{-1}}},
      {"iota_o1", &kIota, {}, {DType::kI1, two, int64_t{0}}},
      {"iota_o1", &kIota, {}, {DType::kI32, Shape{-2}, int64_t{0}}},
      {"iota_c1", &kIota, {}, {DType::kI32, two, int64_t{1}}},
      {"broadcast_in_dim_o1", &kBroadcastInDim, {f32({})}, {Shape{-1}, Ints{}}},
      {"broadcast_in_dim_c2", &kBroadcastInDim, {f32({2})}, {Shape{2, 2}, Ints{0, 1}}},
      {"broadcast_in_dim_c3", &kBroadcastInDim, {f32({2})}, {two, Ints{1}}},
      {"broadcast_in_dim_c3", &kBroadcastInDim, {f32({2})}, {two, Ints{-1}}},
      {"broadcast_in_dim_c4", &kBroadcastInDim, {f32({2, 2})}, {Shape{2, 2}, Ints{0, 0}}},
      {"broadcast_in_dim_c5", &kBroadcastInDim, {f32({2})}, {Shape{3}, Ints{0}}},
      {"broadcast_in_dim_c5", &kBroadcastInDim, {f32({seq()})}, {Shape{seq() + 1}, Ints{0}}},
      {"reshape_o1", &kReshape, {f32({2})}, {Shape{-2, -1}}},
      {"reshape_c2", &kReshape, {f32({2, 3})}, {Shape{5}}},
      {"reshape_c2", &kReshape, {f32({seq(), 3})}, {Shape{seq() + 3}}},
      {"transpose_c2", &kTranspose, {f32({2, 3})}, {Ints{0}}},
      {"transpose_c2", &kTranspose, {f32({2, 3})}, {Ints{0, 0}}},
      {"transpose_c2", &kTranspose, {f32({2, 3})}, {Ints{0, 2}}},
      {"slice_c2", &kSlice, {f32({2, 3})}, {Shape{0}, Shape{1}, Ints{1}}},
      {"slice_c3", &kSlice, {f32({2})}, {Shape{-1}, two, Ints{1}}},
      {"slice_c3", &kSlice, {f32({2})}, {two, Shape{1}, Ints{1}}},
      {"slice_c3", &kSlice, {f32({2})}, {Shape{0}, Shape{3}, Ints{1}}},
      {"slice_c3", &kSlice, {f32({seq()})}, {Shape{0}, Shape{4}, Ints{1}}},
      {"slice_c3", &kSlice, {f32({2})}, {Shape{-kHuge}, Shape{kHuge}, Ints{1}}},
      {"slice_c4", &kSlice, {f32({2})}, {Shape{0}, two, Ints{0}}},
      {"slice_c5", &kSlice, {f32({seq()})}, {Shape{0}, Shape{seq()}, Ints{2}}},
      {"concatenate_c1", &kConcatenate, {f32({2}), i32({2})}, {int64_t{0}}},
      {"concatenate_c2", &kConcatenate, {f32({2, 3}), f32({2, 4})}, {int64_t{0}}},
      {"concatenate_c2", &kConcatenate, {f32({2, 3}), f32({2})}, {int64_t{0}}},
      {"concatenate_c3", &kConcatenate, {}, {int64_t{0}}},
      {"concatenate_c4", &kConcatenate, {f32({2})}, {int64_t{1}}},
      {"concatenate_c6", &kConcatenate, {f32({kHuge}), f32({kHuge})}, {int64_t{0}}},
      {"pad_c1", &kPad, {f32({2}), i32({})}, {Ints{0}, Ints{0}, Ints{0}}},
      {"pad_c1", &kPad, {f32({2}), f32({1})}, {Ints{0}, Ints{0}, Ints{0}}},
      {"pad_c2", &kPad, {f32({2}), f32({})}, {Ints{0}, Ints{0, 0}, Ints{0}}},
      {"pad_c3", &kPad, {f32({2}), f32({})}, {Ints{0}, Ints{0}, Ints{-1}}},
      {"pad_c4", &kPad, {f32({2}), f32({})}, {Ints{-3}, Ints{0}, Ints{0}}},
      {"pad_c4", &kPad, {f32({seq()}), f32({})}, {Ints{0}, Ints{0}, Ints{1}}},
      {"pad_c4", &kPad, {f32({3}), f32({})}, {Ints{0}, Ints{0}, Ints{kHuge}}},
      {"get_dimension_size_c1", &kGetDimensionSize, {f32({2})}, {int64_t{1}}},
      {"bitcast_convert_c1", &kBitcastConvert, {f32({3})}, {DType::kF64}},
      {"bitcast_convert_c1", &kBitcastConvert, {f32({})}, {DType::kF64}},
      {"bitcast_convert_c1", &kBitcastConvert, {i1({8})}, {DType::kI8}},
  };
}

std::vector<Bad> elementwise() {
  std::vector<Bad> out = {
      {"clamp_i2", &kClamp, {i1({}), i1({2}), i1({})}},
      {"clamp_c1", &kClamp, {f32({3}), f32({2}), f32({})}},
      {"clamp_c2", &kClamp, {f32({}), f32({2}), f32({1})}},
      {"clamp_c3", &kClamp, {i32({}), f32({2}), f32({})}},
      {"compare_i3", &kCompare, {f32({2}), f32({2})}, {"LESS"}},
      {"compare_c1", &kCompare, {f32({2}), i32({2})}, {"LT"}},
      {"compare_c2", &kCompare, {f32({2}), f32({3})}, {"LT"}},
      {"select_i1", &kSelect, {i32({2}), f32({2}), f32({2})}},
      {"select_c1", &kSelect, {i1({3}), f32({2}), f32({2})}},
      {"select_c2", &kSelect, {i1({2}), f32({2}), i32({2})}},
  };
  // One- and two-operand ops share their inference; each must name itself.
  const std::set<std::string_view> others = {"clamp", "select", "embedding"};
  for (const OpDef* op : all_ops()) {
    if (!op->attrs.empty() || op->operands < 1 || others.contains(op->name)) continue;
    bool has_kind_limit = false;
    for (const DType dtype : {DType::kI1, DType::kI32, DType::kU32, DType::kF32}) {
      const std::vector<Type> operands(static_cast<size_t>(op->operands), Type{dtype, {2}});
      const auto result = infer(*op, operands);
      if (result) continue;
      has_kind_limit = true;
      out.push_back({std::string(op->name) + "_i1", op, operands});
    }
    if (op->operands == 2) {
      const DType dtype = infer(*op, {f32({2}), f32({2})}) ? DType::kF32 : DType::kI32;
      out.push_back({std::string(op->name) + "_c1", op, {Type{dtype, {2}}, Type{dtype, {seq()}}}});
    }
    const bool takes_all =
        op->name == "add" || op->name == "maximum" || op->name == "minimum" || op->name == "multiply";
    EXPECT_EQ(has_kind_limit, !takes_all) << op->name;
  }
  return out;
}

Bad bad_dot(std::string label, Ints lb, Ints rb, Ints lc, Ints rc, DType dtype = DType::kF32) {
  return {std::move(label),
          &kDotGeneral,
          {f32({2, 3, 4}), f32({2, 5, 4})},
          {std::move(lb), std::move(rb), std::move(lc), std::move(rc), dtype}};
}

Bad bad_gather(std::string label, Ints offset, Ints collapsed, Ints map, int64_t vector_dim, Ints sizes) {
  return {std::move(label),
          &kGather,
          {f32({6, 4}), i32({2, 3, 1})},
          {std::move(offset), std::move(collapsed), std::move(map), vector_dim, std::move(sizes)}};
}

std::vector<Bad> contraction_and_indexing() {
  const Ints none;
  return {
      bad_dot("dot_general_c1", {0}, {}, {2}, {2}),
      bad_dot("dot_general_c2", {0}, {0}, {2}, {}),
      bad_dot("dot_general_c3", {0}, {0}, {0}, {2}),
      bad_dot("dot_general_c3", {0, 0}, {0, 1}, {2}, {2}),
      bad_dot("dot_general_c4", {0}, {0}, {2}, {0}),
      bad_dot("dot_general_c5", {3}, {0}, {2}, {2}),
      bad_dot("dot_general_c6", {0}, {0}, {-1}, {2}),
      bad_dot("dot_general_c7", {0}, {3}, {2}, {2}),
      bad_dot("dot_general_c8", {0}, {0}, {2}, {7}),
      bad_dot("dot_general_c9", {1}, {1}, {2}, {2}),
      bad_dot("dot_general_c10", {0}, {0}, {1}, {2}),
      bad_dot("dot_general_o1", {0}, {0}, {2}, {2}, DType::kBF16),
      bad_dot("dot_general_o1", {0}, {0}, {2}, {2}, DType::kI32),
      {"dot_general_i1", &kDotGeneral, {i1({2}), i1({2})}, {none, none, Ints{0}, Ints{0}, DType::kI1}},
      {"dot_general_c13", &kDotGeneral, {f32({2}), i32({2})}, {none, none, Ints{0}, Ints{0}, DType::kF32}},
      {"dynamic_slice_i1", &kDynamicSlice, {}, {none}},
      {"dynamic_slice_i2", &kDynamicSlice, {f32({4}), f32({})}, {Ints{1}}},
      {"dynamic_slice_i2", &kDynamicSlice, {f32({4}), i32({1})}, {Ints{1}}},
      {"dynamic_slice_c2", &kDynamicSlice, {f32({4}), i32({}), i32({})}, {Ints{1}}},
      {"dynamic_slice_c2", &kDynamicSlice, {f32({4}), i32({})}, {Ints{1, 1}}},
      {"dynamic_slice_c3", &kDynamicSlice, {f32({4, 4}), i32({}), {DType::kI64, {}}}, {Ints{1, 1}}},
      {"dynamic_slice_c4", &kDynamicSlice, {f32({4}), i32({})}, {Ints{5}}},
      {"dynamic_slice_c4", &kDynamicSlice, {f32({4}), i32({})}, {Ints{-1}}},
      {"dynamic_slice_c4", &kDynamicSlice, {f32({seq()}), i32({})}, {Ints{1}}},
      {"dynamic_update_slice_i1", &kDynamicUpdateSlice, {f32({4})}},
      {"dynamic_update_slice_i3", &kDynamicUpdateSlice, {f32({4}), f32({1}), f32({})}},
      {"dynamic_update_slice_c2", &kDynamicUpdateSlice, {f32({4}), i32({1}), i32({})}},
      {"dynamic_update_slice_c3", &kDynamicUpdateSlice, {f32({4}), f32({}), i32({})}},
      {"dynamic_update_slice_c4", &kDynamicUpdateSlice, {f32({4}), f32({1})}},
      {"dynamic_update_slice_c5", &kDynamicUpdateSlice, {f32({4, 4}), f32({1, 1}), i32({}), {DType::kU8, {}}}},
      {"dynamic_update_slice_c6", &kDynamicUpdateSlice, {f32({4}), f32({5}), i32({})}},
      {"gather_i2", &kGather, {f32({6}), f32({2, 1})}, {none, Ints{0}, Ints{0}, int64_t{1}, Ints{1}}},
      bad_gather("gather_c1", {2}, {}, {0}, 2, {1, 4}),
      bad_gather("gather_c2", {2}, {0}, {0}, 4, {1, 4}),
      bad_gather("gather_c3", {2}, {0}, {0, 1}, 2, {1, 4}),
      bad_gather("gather_c4", {1, 0}, {}, {0}, 2, {1, 4}),
      bad_gather("gather_c4", {1, 1}, {}, {0}, 2, {1, 4}),
      bad_gather("gather_c5", {3}, {0}, {0}, 2, {1, 4}),
      bad_gather("gather_c6", {}, {0, 0}, {0}, 2, {1, 1}),
      bad_gather("gather_c7", {}, {1, 0}, {0}, 2, {1, 1}),
      bad_gather("gather_c8", {2}, {2}, {0}, 2, {1, 4}),
      bad_gather("gather_c9", {2}, {0}, {0}, 2, {2, 4}),
      bad_gather("gather_c9", {2}, {0}, {0}, 2, {0, 4}),
      bad_gather("gather_c19", {2}, {0}, {2}, 2, {1, 4}),
      bad_gather("gather_c20", {2}, {0}, {0}, 2, {1}),
      bad_gather("gather_c21", {2}, {0}, {0}, 2, {1, 5}),
      bad_gather("gather_c21", {2}, {0}, {0}, 2, {1, std::numeric_limits<int64_t>::min()}),
      {"gather_c18", &kGather, {f32({6, 4}), i32({2, 2})}, {Ints{1}, Ints{0}, Ints{0, 0}, int64_t{1}, Ints{1, 4}}},
  };
}

std::vector<Bad> regions() {
  const GraphPtr sum = body_of(kAdd, f32({}));
  const GraphPtr pred = identity({i32({}), i1({})}, {1});
  const GraphPtr step = identity({i32({}), i1({})}, {0});
  const std::vector<Type> state = {i32({}), i1({})};
  const auto reduce = [&](std::string label, std::vector<Type> operands, int64_t n, Ints dims) {
    return Bad{std::move(label), &kReduce, std::move(operands), {n, std::move(dims)}, {sum}};
  };
  return {
      reduce("reduce_c1", {f32({2}), f32({3}), f32({}), f32({})}, 2, {0}),
      reduce("reduce_c2", {f32({2}), i32({})}, 1, {0}),
      reduce("reduce_c2", {f32({2}), f32({1})}, 1, {0}),
      reduce("reduce_c3", {f32({2})}, 1, {0}),
      reduce("reduce_c3", {f32({2}), f32({})}, 0, {0}),
      reduce("reduce_c4", {f32({2}), f32({})}, 1, {1}),
      reduce("reduce_c5", {f32({2}), f32({})}, 1, {0, 0}),
      reduce("reduce_c6", {i32({2}), i32({})}, 1, {0}),
      reduce("reduce_c6", {f32({2}), f32({}), f32({})}, 1, {0}),
      {"if_i1", &kIf, {}, {}, {sum, sum}},
      {"if_i1", &kIf, {i32({})}, {}, {sum, sum}},
      {"if_c1", &kIf, {i1({}), f32({})}, {}, {sum, sum}},
      {"if_c2", &kIf, {i1({}), i32({}), i1({})}, {}, {pred, step}},
      {"while_c1", &kWhile, state, {int64_t{1}}, {step, step}},
      {"while_c2", &kWhile, state, {int64_t{1}}, {pred, pred}},
      {"while_c3", &kWhile, state, {int64_t{3}}, {pred, step}},
      {"while_c3", &kWhile, state, {int64_t{0}}, {pred, step}},
      {"call_c1", &kCall, {}, {"", std::vector<Type>{f32({})}}},
      {"call_c2", &kCall, {}, {"f", std::vector<Type>{}}},
      {"call_c3", &kCall, {}, {"f", std::vector<Type>{f32({-1})}}},
      {"optimization_barrier_c1", &kOptimizationBarrier, {}},
  };
}

Bad bad_linear(std::string label, std::vector<Type> operands, Ints split = {}, Ints merge = {}) {
  return {std::move(label), &kLinear, std::move(operands), {std::move(split), std::move(merge)}};
}

// q, k, v as shapes; positions that fit unless given.
Bad bad_attend(std::string label, const Shape& q, const Shape& k, const Shape& v, double scale = 1, double cap = 0,
               int64_t window = 0) {
  return {std::move(label), &kAttend, {f32(q), f32(k), f32(v), i32({1, 3}), i32({1, 5})}, {scale, cap, window}};
}

std::vector<Bad> structured() {
  const Type x = f32({1, seq(), 6});
  const Type w = f32({8, 6});
  const Shape q{1, 2, 2, 3, 2};
  const Shape k{1, 2, 5, 2};
  return {
      {"embedding_i1", &kEmbedding, {i32({9, 4}), i32({1, 2})}},
      {"embedding_i1", &kEmbedding, {f32({9}), i32({1, 2})}},
      {"embedding_i2", &kEmbedding, {f32({9, 4}), f32({1, 2})}},
      bad_linear("linear_i1", {x}),
      bad_linear("linear_i1", {i32({1, 2, 6}), w}),
      bad_linear("linear_i2", {x, i32({8, 6})}),
      bad_linear("linear_i2", {x, f32({8})}),
      bad_linear("linear_i2", {x, f32({seq(), 6})}),
      bad_linear("linear_c1", {x, f32({8, 5})}),
      bad_linear("linear_c2", {f32({6}), w}),
      bad_linear("linear_c2", {x, w}, {}, {2}),
      bad_linear("linear_c2", {f32({1, 2, seq(), 3}), w}, {}, {-2}),
      bad_linear("linear_c2", {f32({1, 2, seq(), seq()}), w}, {}, {2}),
      bad_linear("linear_c2", {f32({1, 4, 1, kHuge}), w}, {}, {4}),
      bad_linear("linear_c3", {x, w, f32({6})}),
      bad_linear("linear_c4", {x, w}, {3}),
      bad_linear("linear_c4", {x, w}, {-2}),
      bad_linear("linear_c2", {f32({1, 2, 3, seq(), 1}), w}, {}, {6}),
      bad_linear("linear_c4", {f32({2, 6}), w}, {2}),
      bad_linear("linear_c4", {x, w}, {kHuge, kHuge}),
      {"attend_i1", &kAttend, {i32(q), f32(k), f32(k), i32({1, 3}), i32({1, 5})}, {1.0, 0.0, int64_t{0}}},
      {"attend_i2", &kAttend, {f32(q), f32({5}), f32(k), i32({1, 3}), i32({1, 5})}, {1.0, 0.0, int64_t{0}}},
      {"attend_i3", &kAttend, {f32(q), f32(k), i32(k), i32({1, 3}), i32({1, 5})}, {1.0, 0.0, int64_t{0}}},
      bad_attend("attend_c1", {2, 2, 2, 3, 2}, k, k),
      bad_attend("attend_c2", {1, 3, 2, 3, 2}, k, k),
      bad_attend("attend_c2", {1, 2, seq(), 3, 2}, k, k),
      bad_attend("attend_c3", q, k, {1, 2, 6, 2}),
      bad_attend("attend_c4", q, {1, 2, 5, 3}, k),
      bad_attend("attend_c5", {1, 2, 2, 2, 2}, k, k),
      bad_attend("attend_c5", q, {1, 2, 6, 2}, {1, 2, 6, 2}),
      bad_attend("attend_c6", q, k, k, std::numeric_limits<double>::infinity()),
      bad_attend("attend_c7", q, k, k, 1, -1),
      bad_attend("attend_c8", q, k, k, 1, 0, -1),
  };
}

std::vector<Bad> all_bad() {
  std::vector<Bad> out;
  for (auto part : {leaves_and_shapes(), elementwise(), contraction_and_indexing(), regions(), structured()})
    out.insert(out.end(), part.begin(), part.end());
  return out;
}

TEST(InferLabels, EachConstraintIsRefusedByItsLabel) {
  for (const Bad& bad : all_bad())
    EXPECT_THAT(infer(*bad.op, bad.operands, bad.attrs, bad.regions), IsError(ErrorCode::kInfer, HasSubstr(bad.label)))
        << bad.op->name;
}

TEST(InferLabels, EveryLabelInTheSourcesIsProvoked) {
  std::set<std::string> provoked;
  for (const Bad& bad : all_bad()) provoked.insert(bad.label);
  const std::filesystem::path sources = HEADRACE_TESTDATA "/../src/ops";
  const std::regex label("[a-z_]+_[cio][0-9]+(?=[\":)])");
  for (const auto& entry : std::filesystem::directory_iterator(sources)) {
    const std::string name = entry.path().filename();
    if (entry.path().extension() != ".cpp" || name.ends_with("_test.cpp")) continue;
    std::stringstream text;
    text << std::ifstream(entry.path()).rdbuf();
    const std::string all = text.str();
    for (std::sregex_iterator it(all.begin(), all.end(), label), end; it != end; ++it)
      EXPECT_TRUE(provoked.contains(it->str())) << it->str() << " in " << name;
  }
}

}  // namespace
}  // namespace headrace
