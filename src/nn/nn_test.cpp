// The DSL: what fits, what does not and how that is said; layers by value against formulas in double.
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "base/testing.h"
#include "interp/interpreter_testing.h"
#include "ir/print.h"
#include "nn/kv_cache.h"
#include "nn/layers.h"
#include "nn/rope.h"
#include "nn/trace.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsError;

Type f32(Shape shape) { return {.dtype = DType::kF32, .shape = std::move(shape)}; }
Dim seq() { return Dim::symbol("seq"); }

using Body = std::function<Tensor(Tracer&, std::span<const Tensor>)>;

Result<Function> traced(std::vector<Type> inputs, const Body& body, const std::vector<Parameter>& parameters = {}) {
  FunctionSpec spec{.name = "f", .arguments = {}, .state = {}, .body = {}};
  for (Type& type : inputs) spec.arguments.push_back({fmt::format("x{}", spec.arguments.size()), std::move(type)});
  spec.body = [&](Tracer& t, std::span<const Tensor> x) {
    return std::vector<std::pair<std::string, Tensor>>{{"y", body(t, x)}};
  };
  return trace(spec, parameters);
}

Module module_of(Function function, std::vector<Parameter> parameters = {}) {
  Module m{.name = "m",
           .symbols = {{.name = "seq", .min = 1, .max = 1 << 20}},
           .recipes = {},
           .parameters = {},
           .functions = {}};
  for (Parameter& p : parameters) {
    p.recipe = static_cast<uint32_t>(m.recipes.size());
    m.recipes.push_back({.sources = {}, .steps = {}, .outputs = {{.parameter = p.name, .type = p.type}}});
    m.parameters.push_back(std::move(p));
  }
  m.functions.push_back(std::move(function));
  return m;
}

TEST(Dsl, BroadcastsLikeNumpy) {
  ASSERT_OK_AND_ASSIGN(const Function f,
                       traced({f32({1, seq(), 4}), f32({4})}, [](Tracer&, auto x) { return x[0] * x[1] + 1.0; }));
  EXPECT_EQ(f.graph->result_types()[0], f32({1, seq(), 4}));
}

TEST(Dsl, AMisfitNamesTheModulePathAndBothShapes) {
  EXPECT_THAT(
      traced({f32({1, seq(), 576}), f32({1, seq(), 512})},
             [](Tracer& t, auto x) {
               const Scope block(t, "blk.3");
               return in_scope(t, "attn", [&] { return x[0] + x[1]; });
             }),
      IsError(ErrorCode::kTrace, HasSubstr("f: blk.3.attn: add: f32[1, seq, 576] and f32[1, seq, 512] do not fit")));
}

TEST(Dsl, UnequalSymbolicDimsAreBothNamed) {
  EXPECT_THAT(traced({f32({seq()}), f32({Dim::symbol("past") + seq()})}, [](Tracer&, auto x) { return x[0] + x[1]; }),
              IsError(ErrorCode::kTrace, AllOf(HasSubstr("[seq]"), HasSubstr("[past + seq]"))));
}

TEST(Dsl, ConcatenatedSymbolsAdd) {
  const Dim past = Dim::symbol("past");
  ASSERT_OK_AND_ASSIGN(const Function f, traced({f32({1, past}), f32({1, seq()})}, [](Tracer&, auto x) {
                         return concatenate({x[0], x[1]}, 1);
                       }));
  EXPECT_EQ(f.graph->result_types()[0], f32({1, past + seq()}));
}

TEST(Dsl, AnUndeclaredParameterIsRefused) {
  EXPECT_THAT(traced({f32({1, seq(), 4})}, [](Tracer&, auto x) { return Linear{.weight = "w"}(x[0]); }),
              IsError(ErrorCode::kTrace, HasSubstr("parameter 'w' is not in the model's tensor table")));
}

TEST(Dsl, ALinearOfTheWrongWidthNamesBothShapes) {
  const std::vector<Parameter> p{{.name = "w", .type = f32({8, 5}), .role = Role::kMatmul, .recipe = 0, .output = 0}};
  EXPECT_THAT(traced(
                  {f32({1, seq(), 4})},
                  [](Tracer& t, auto x) { return in_scope(t, "q", [&] { return Linear{.weight = "w"}(x[0]); }); }, p),
              IsError(ErrorCode::kInfer, AllOf(HasSubstr("f: q: "), HasSubstr("[1, seq, 4]"), HasSubstr("[8, 5]"))));
}

TEST(Dsl, AFunctionWithoutOpsOrResultsIsRefused) {
  EXPECT_THAT(traced({f32({4})}, [](Tracer&, auto x) { return x[0]; }),
              IsError(ErrorCode::kTrace, HasSubstr("computes nothing")));
  const FunctionSpec nothing{.name = "g", .arguments = {{"x", f32({4})}}, .state = {}, .body = [](Tracer&, auto) {
                               return std::vector<std::pair<std::string, Tensor>>{};
                             }};
  EXPECT_THAT(trace(nothing, {}), IsError(ErrorCode::kTrace, HasSubstr("g: the function returns nothing")));
}

TEST(Dsl, TracingAllocatesNothingOfTheWeightsSize) {
  std::vector<Parameter> p;
  for (int i = 0; i < 64; ++i)
    p.push_back(
        {.name = fmt::format("w{}", i), .type = f32({4096, 4096}), .role = Role::kMatmul, .recipe = 0, .output = 0});
  ASSERT_OK_AND_ASSIGN(const Function f, traced(
                                             {f32({1, seq(), 4096})},
                                             [](Tracer&, auto x) {
                                               Tensor y = x[0];
                                               for (int i = 0; i < 64; ++i)
                                                 y = Linear{.weight = fmt::format("w{}", i)}(y);
                                               return y;
                                             },
                                             p));
  size_t bytes = 0;
  for (const Node& n : f.graph->nodes())
    for (const Attr& a : n.attrs)
      if (const auto* literal = std::get_if<Literal>(&a)) bytes += literal->bytes->size();
  EXPECT_LT(bytes, 1024U);
  EXPECT_LT(f.graph->nodes().size(), 256U);
}

// ---- values

std::vector<double> evaluated(const Module& m, std::vector<HostTensor<double>> inputs,
                              testing::MapParameters<double> p = {}) {
  auto out = interpret<double>(m, "f", std::move(inputs), p);
  if (!out) throw InternalError(out.error().text());
  const auto span = out->at(0).floats();
  return {span.begin(), span.end()};
}

TEST(Layers, RmsNormIsTheFormula) {
  const std::vector<Parameter> p{{.name = "w", .type = f32({4}), .role = Role::kNorm, .recipe = 0, .output = 0}};
  ASSERT_OK_AND_ASSIGN(Function f, traced(
                                       {f32({1, seq(), 4})},
                                       [](Tracer&, auto x) { return RmsNorm{.weight = "w", .eps = 0.125}(x[0]); }, p));
  testing::MapParameters<double> weights;
  weights.tensors["w"] = testing::floats<double>({4}, {1, 2, 3, 4});
  const std::vector<double> x{1, -2, 3, 0.5, 0, 0, 0, 0};
  const auto y = evaluated(module_of(std::move(f), p), {testing::floats<double>({1, 2, 4}, x)}, std::move(weights));
  const double scale = 1 / std::sqrt((1 + 4 + 9 + 0.25) / 4 + 0.125);  // eps inside the root
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(y[i], x[i] * scale * static_cast<double>(i + 1), 1e-12);
  for (size_t i = 4; i < 8; ++i) EXPECT_EQ(y[i], 0);
}

// The rotation by angle position * base^(-2i/n), element by element, in the order that rope() leaves.
std::vector<double> rotated(const std::vector<double>& head, double position, const RopeConfig& c) {
  const auto n = static_cast<size_t>(c.rotated);
  std::vector<double> out(head.size());
  for (size_t i = 0; i < n / 2; ++i) {
    const size_t a = c.pairing == RopePairing::kInterleaved ? 2 * i : i;
    const size_t b = c.pairing == RopePairing::kInterleaved ? 2 * i + 1 : i + n / 2;
    const auto frequency =
        static_cast<float>(std::pow(c.base, -2.0 * static_cast<double>(i) / static_cast<double>(n)) / c.linear_factor);
    const double angle = position * static_cast<double>(frequency);
    out[i] = head[a] * std::cos(angle) - head[b] * std::sin(angle);
    out[i + n / 2] = head[a] * std::sin(angle) + head[b] * std::cos(angle);
  }
  for (size_t i = n; i < head.size(); ++i) out[i] = head[i];
  return out;
}

TEST(Rope, RotatesPairsOfEitherPairingWholeOrInPart) {
  const std::vector<double> head{0.5, -1, 2, 0.25, -0.75, 1.5};
  for (const RopePairing pairing : {RopePairing::kInterleaved, RopePairing::kHalf}) {
    for (const int64_t width : {6, 4}) {
      const RopeConfig config{.rotated = width, .base = 10000, .linear_factor = 2, .pairing = pairing};
      const Type positions{.dtype = DType::kI32, .shape = {1, seq()}};
      ASSERT_OK_AND_ASSIGN(Function f, traced({f32({1, 1, seq(), 6}), positions}, [&](Tracer&, auto x) {
                             return rope(x[0], rope_tables(x[1], config), config);
                           }));
      std::vector<double> x;
      for (int i = 0; i < 3; ++i) x.insert(x.end(), head.begin(), head.end());
      const auto y = evaluated(module_of(std::move(f)),
                               {testing::floats<double>({1, 1, 3, 6}, x), testing::ints<double>({1, 3}, {0, 7, 8191})});
      for (size_t row = 0; row < 3; ++row) {
        const auto expected = rotated(head, std::vector<double>{0, 7, 8191}[row], config);
        for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(y[row * 6 + i], expected[i], 1e-6) << row << " " << i;
      }
    }
  }
}

// F03: the reduction in f32, against cos of the same f32 angle in double.
TEST(Rope, TablesAreAccurateAtLargePositions) {
  const RopeConfig config{.rotated = 2, .base = 10000, .linear_factor = 1, .pairing = RopePairing::kHalf};
  const Type positions{.dtype = DType::kI32, .shape = {1, seq()}};
  ASSERT_OK_AND_ASSIGN(Function f, traced({positions}, [&](Tracer&, auto x) {
                         const RopeTables tables = rope_tables(x[0], config);
                         return concatenate({tables.cosine, tables.sine}, 2);
                       }));
  std::vector<int64_t> at;
  for (int64_t i = 0; i < 131072; i += 17) at.push_back(i);
  const auto count = static_cast<int64_t>(at.size());
  auto out = interpret<float>(module_of(std::move(f)), "f", {testing::ints<float>({1, count}, at)},
                              testing::MapParameters<float>{});
  ASSERT_OK(out);
  const auto y = out->at(0).floats();
  double worst = 0;
  for (size_t i = 0; i < at.size(); ++i) {
    worst = std::max(worst, std::fabs(static_cast<double>(y[2 * i]) - std::cos(static_cast<double>(at[i]))));
    worst = std::max(worst, std::fabs(static_cast<double>(y[2 * i + 1]) - std::sin(static_cast<double>(at[i]))));
  }
  EXPECT_LT(worst, 5e-7);
}

// The tables of some widths and bases as one module, which tests/engines runs on the engines. HEADRACE_REBASE=1
// rewrites the file.
TEST(Rope, TheModuleForEnginesIsWhatIsTraced) {
  Module module{.name = "rope", .symbols = {}, .recipes = {}, .parameters = {}, .functions = {}};
  for (const auto& [width, base] : {std::pair<int64_t, double>{64, 1e5}, {256, 1e4}, {256, 1e6}}) {
    const RopeConfig config{.rotated = width, .base = base, .linear_factor = 1, .pairing = RopePairing::kHalf};
    const FunctionSpec spec{
        .name = fmt::format("rope_{}_{}", width, static_cast<int64_t>(base)),
        .arguments = {{"positions", {.dtype = DType::kI32, .shape = {1, 4}}}},
        .state = {},
        .body = [&](Tracer&, std::span<const Tensor> x) {
          const RopeTables tables = rope_tables(x[0], config);
          return std::vector<std::pair<std::string, Tensor>>{{"cosine", tables.cosine}, {"sine", tables.sine}};
        }};
    ASSERT_OK_AND_ASSIGN(Function f, trace(spec, {}));
    module.functions.push_back(std::move(f));
  }
  const std::string path = HEADRACE_TESTDATA "/nn/rope.hir";
  if (std::getenv("HEADRACE_REBASE") != nullptr) std::ofstream(path) << print(module);
  std::stringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(print(module), golden.str());
}

TEST(Rope, AnOddWidthIsRefused) {
  const RopeConfig config{.rotated = 5, .base = 10000, .linear_factor = 1, .pairing = RopePairing::kHalf};
  EXPECT_THAT(traced({{.dtype = DType::kI32, .shape = {1, seq()}}},
                     [&](Tracer&, auto x) { return rope_tables(x[0], config).sine; }),
              IsError(ErrorCode::kTrace, HasSubstr("5 elements rotate, expected a positive even number")));
}

}  // namespace
}  // namespace headrace
