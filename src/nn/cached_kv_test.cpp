// A layer that shares another's keys, which no model of the zoo has.
#include "nn/cached_kv.h"

#include <cmath>

#include "base/testing.h"
#include "interp/interpreter_testing.h"

namespace headrace {
namespace {

using testing::IsError;
using Values = HostTensor<double>;
using Named = std::vector<std::pair<std::string, Tensor>>;
using Arguments = std::span<const Tensor>;

constexpr int64_t kText = 7, kWidth = 4, kGroup = 2;
constexpr int64_t kOwner = 3;

struct Policy {
  std::string name;
  KvPolicy policy;
  int64_t window{};
};

const std::vector<Policy>& policies() {
  static const std::vector<Policy> kAll{
      {"static", {.extent = KvExtent::kStatic, .capacity = 8}},
      {"ring", {.extent = KvExtent::kStatic, .capacity = 8, .ring = true}, 3},
      {"growing", {.extent = KvExtent::kConcat, .capacity = 8}},
  };
  return kAll;
}

KvLayout layout_of(const Policy& each) {
  return {.policy = each.policy,
          .batch = 1,
          .layers = {{.layer = kOwner, .heads = 1, .key_width = kWidth, .value_width = kWidth, .window = each.window}}};
}

Type f32(Shape shape) { return {.dtype = DType::kF32, .shape = std::move(shape)}; }
Type i32(Shape shape) { return {.dtype = DType::kI32, .shape = std::move(shape)}; }

// Queries, keys and values of both layers for S tokens: q, k, v, and q of the layer that shares.
std::vector<NamedType> data(int64_t s) {
  return {{"q", f32({1, 1, kGroup, s, kWidth})},
          {"k", f32({1, 1, s, kWidth})},
          {"v", f32({1, 1, s, kWidth})},
          {"shared_q", f32({1, 1, kGroup, s, kWidth})},
          {"positions", i32({1, s})}};
}

Named attended(KvCache& kv, Arguments in, int64_t window, bool shared) {
  const AttendOptions options{.scale = 0.5, .window = window};
  Named out{{"own", kv.attend(kOwner, in[0], in[1], in[2], in[4], options)}};
  if (shared) out.emplace_back("shared", kv.attend_shared(kOwner, in[3], in[4], options));
  return out;
}

// prefill (past 0) or decode.
Result<Function> step(const std::string& name, const KvLayout& layout, int64_t s, int64_t past, bool shared) {
  FunctionSpec spec{.name = name, .arguments = data(s), .state = {}, .body = {}};
  spec.arguments.push_back({past == 0 ? "length" : "position", i32({1})});
  if (past != 0)
    for (NamedType& cache : layout.caches(past)) spec.arguments.push_back(std::move(cache));
  spec.body = [&](Tracer&, Arguments in) {
    CacheCall call{.positions = in[4], .length = {}, .past = {}};
    (past == 0 ? call.length : call.past) = in[5];
    if (past != 0) call.caches.assign(in.begin() + 6, in.end());
    CachedKv kv(layout, std::move(call));
    Named out = attended(kv, in, layout.layers[0].window, shared);
    for (const Tensor& cache : kv.results()) out.emplace_back(fmt::format("cache.{}", out.size()), cache);
    return out;
  };
  return trace(spec, {});
}

Result<std::vector<Values>> evaluate(Result<Function> function, std::vector<Values> in) {
  if (!function) return fail(function.error());
  const Module module{.name = "m", .symbols = {}, .recipes = {}, .parameters = {}, .functions = {*function}};
  return interpret<double>(module, function->name, std::move(in), testing::MapParameters<double>{});
}

double number(int64_t which, int64_t lane, int64_t at) {
  return std::sin(static_cast<double>(17 * which + 5 * lane + 11 * at + which * at));
}

// The data of tokens [from, from + s).
std::vector<Values> tokens(int64_t from, int64_t s) {
  std::vector<Values> out;
  for (int64_t which = 0; which < 4; ++which) {
    const int64_t heads = which % 3 == 0 ? kGroup : 1;
    std::vector<double> values;
    for (int64_t h = 0; h < heads; ++h)
      for (int64_t i = 0; i < s * kWidth; ++i)
        values.push_back(number(which, h * kWidth + i % kWidth, from + i / kWidth));
    out.push_back(testing::floats<double>(
        heads == 1 ? std::vector<int64_t>{1, 1, s, kWidth} : std::vector<int64_t>{1, 1, kGroup, s, kWidth}, values));
  }
  std::vector<int64_t> positions;
  for (int64_t i = 0; i < s; ++i) positions.push_back(from + i);
  out.push_back(testing::ints<double>({1, s}, positions));
  return out;
}

// Rows [from, from + s) of both layers' results are those of the whole text.
void expect_rows(const std::vector<Values>& results, const std::vector<Values>& whole, int64_t from, int64_t s) {
  for (size_t layer = 0; layer < 2; ++layer)
    for (int64_t group = 0; group < kGroup; ++group)
      for (int64_t i = 0; i < s * kWidth; ++i)
        EXPECT_NEAR(results[layer].floats()[static_cast<size_t>(group * s * kWidth + i)],
                    whole[layer].floats()[static_cast<size_t>((group * kText + from) * kWidth + i)], 1e-12)
            << "layer " << layer << ", token " << from + i / kWidth;
}

bool same_values(const Values& a, const Values& b) {
  return is_float(a.dtype()) ? std::ranges::equal(a.floats(), b.floats()) : std::ranges::equal(a.ints(), b.ints());
}

// G02
TEST(CachedKv, ALayerThatSharesKeysSeesItsOwnersAndKeepsNone) {
  for (const Policy& each : policies()) {
    SCOPED_TRACE(each.name);
    const KvLayout layout = layout_of(each);
    const FunctionSpec all{.name = "whole", .arguments = data(kText), .state = {}, .body = [&](Tracer&, Arguments in) {
                             NoCache kv;
                             return attended(kv, in, each.window, true);
                           }};
    ASSERT_OK_AND_ASSIGN(const auto whole, evaluate(trace(all, {}), tokens(0, kText)));
    std::vector<Values> caches, alone;
    for (int64_t at = 0, s = 4; at < kText; at += s, s = 1) {
      auto in = tokens(at, s);
      in.push_back(testing::ints<double>({1}, {at == 0 ? s : at}));
      auto without = in;
      in.insert(in.end(), caches.begin(), caches.end());
      without.insert(without.end(), alone.begin(), alone.end());
      ASSERT_OK_AND_ASSIGN(const auto with, evaluate(step("with", layout, s, at, true), std::move(in)));
      ASSERT_OK_AND_ASSIGN(const auto single, evaluate(step("single", layout, s, at, false), std::move(without)));
      expect_rows(with, whole, at, s);
      caches.assign(with.begin() + 2, with.end());
      alone.assign(single.begin() + 1, single.end());
      ASSERT_EQ(caches.size(), alone.size());
      for (size_t i = 0; i < caches.size(); ++i) EXPECT_TRUE(same_values(caches[i], alone[i])) << i;
    }
  }
}

TEST(CachedKv, ALayerThatIsNotThereCannotBeShared) {
  const FunctionSpec spec{.name = "f", .arguments = data(1), .state = {}, .body = [](Tracer&, Arguments in) {
                            NoCache kv;
                            return Named{{"y", kv.attend_shared(5, in[0], in[4], {.scale = 1})}};
                          }};
  EXPECT_THAT(trace(spec, {}), IsError(ErrorCode::kTrace, ::testing::HasSubstr("layer 5 has no keys to share")));
}

}  // namespace
}  // namespace headrace
