// The same text through prefill, chunks and decodes gives what scoring it at once gives, in f64, at every position, for
// every cache policy and model: random splits, padded calls, ragged batches, caches exactly full, texts beyond windows.
#include <cmath>
#include <map>
#include <random>

#include "base/testing.h"
#include "exporter/exporter_testing.h"
#include "exporter/functions.h"
#include "interp/interpreter.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using Values = HostTensor<double>;

// Beyond every window of the zoo (8 to 16 positions), several rounds of their rings.
constexpr int64_t kText = 42;
constexpr int64_t kMaxSeq = 48;
constexpr double kTolerance = 1e-9;

struct PolicyCase {
  std::string name;
  KvPolicy policy;
};

std::vector<PolicyCase> policies() {
  std::vector<PolicyCase> out;
  for (const bool ring : {false, true}) {
    const std::string local = ring ? "ring" : "same";
    out.push_back({"concat, " + local, {.extent = KvExtent::kConcat, .capacity = 64, .ring = ring}});
    out.push_back({"static, exactly full, " + local, {.extent = KvExtent::kStatic, .capacity = kMaxSeq, .ring = ring}});
    out.push_back({"static, with room, " + local, {.extent = KvExtent::kStatic, .capacity = 64, .ring = ring}});
  }
  return out;
}

std::vector<int64_t> text_of_row(int64_t row, int64_t vocabulary) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < kMaxSeq; ++i) out.push_back((37 * i + 101 * row + 5) % vocabulary);
  return out;
}

// Feeds rows of text through the cached functions, and compares the logits with those of `score`.
class Feeder {
 public:
  Feeder(const Checkpoint& checkpoint, const Model& model, const TracedModel& traced)
      : model_(model), traced_(traced), parameters_(testing::checkpoint_parameters(checkpoint, traced.module)) {
    for (int64_t row = 0; row < batch(); ++row) texts_.push_back(text_of_row(row, model.vocabulary()));
    at_.resize(texts_.size());
  }

  [[nodiscard]] int64_t batch() const { return traced_.layout.batch; }
  [[nodiscard]] int64_t at(size_t row) const { return at_[row]; }

  void score() {
    std::vector<Values> in{tokens(kMaxSeq, [](size_t, int64_t i) { return i; })};
    call("score", std::move(in));
    expected_ = std::move(results_.at(0));
  }

  // Each row's next `lengths`, in a call of `width` positions.
  void feed(const std::string& function, int64_t width, const std::vector<int64_t>& lengths) {
    std::vector<Values> in{
        tokens(width, [&](size_t row, int64_t i) { return i < lengths[row] ? at_[row] + i : int64_t{0}; })};
    if (function != "decode") in.push_back(per_row(lengths));
    if (function != "prefill") in.push_back(per_row(at_));
    if (function != "prefill") in.insert(in.end(), caches_.begin(), caches_.end());
    call(function, std::move(in));
    if (results_.empty()) return;
    compare(results_[0], width, lengths, function);
    caches_.assign(results_.begin() + 1, results_.end());
    for (size_t row = 0; row < at_.size(); ++row) at_[row] += lengths[row];
  }

  // Empty caches, as a text has that begins without a prefill.
  void begin_empty() {
    caches_.clear();
    for (const NamedType& cache : traced_.layout.caches(0))
      caches_.emplace_back(cache.type.dtype, static_sizes(cache.type.shape));
  }

  double largest = 0;

 private:
  template <class Position>
  [[nodiscard]] Values tokens(int64_t width, const Position& position) const {
    Values out(DType::kI32, {batch(), width});
    for (size_t row = 0; row < texts_.size(); ++row)
      for (int64_t i = 0; i < width; ++i)
        out.mutable_ints()[row * static_cast<size_t>(width) + static_cast<size_t>(i)] =
            texts_[row][static_cast<size_t>(position(row, i))];
    return out;
  }

  [[nodiscard]] Values per_row(const std::vector<int64_t>& values) const {
    Values out(DType::kI32, {batch()});
    std::ranges::copy(values, out.mutable_ints().begin());
    return out;
  }

  void call(const std::string& function, std::vector<Values> in) {
    results_.clear();
    auto results = interpret<double>(traced_.module, function, std::move(in), *parameters_, {.threads = 1});
    ASSERT_OK(results);
    results_ = *std::move(results);
  }

  void compare(const Values& seen, int64_t width, const std::vector<int64_t>& lengths, const std::string& function) {
    const auto vocabulary = static_cast<size_t>(model_.vocabulary());
    for (const double logit : seen.floats()) ASSERT_TRUE(std::isfinite(logit)) << function;
    for (size_t row = 0; row < at_.size(); ++row) {
      for (int64_t i = 0; i < lengths[row]; ++i) {
        const size_t from = (row * static_cast<size_t>(width) + static_cast<size_t>(i)) * vocabulary;
        const size_t wanted = (row * kMaxSeq + static_cast<size_t>(at_[row] + i)) * vocabulary;
        for (size_t v = 0; v < vocabulary; ++v) {
          const double apart = std::abs(seen.floats()[from + v] - expected_.floats()[wanted + v]);
          ASSERT_LE(apart, kTolerance) << function << ", row " << row << ", position " << at_[row] + i;
          largest = std::max(largest, apart);
        }
      }
    }
  }

  const Model& model_;
  const TracedModel& traced_;
  std::unique_ptr<ParameterSource<double>> parameters_;
  std::vector<std::vector<int64_t>> texts_;
  std::vector<int64_t> at_;  // positions of each row so far
  std::vector<Values> caches_, results_;
  Values expected_;
};

class CachedTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string path = fmt::format("{}/zoo/{}/{}.f32.gguf", HEADRACE_TESTDATA, GetParam(), GetParam());
    ASSERT_OK_AND_ASSIGN(checkpoint_, open_checkpoint(path, warnings_));
    ASSERT_OK_AND_ASSIGN(model_, make_model(checkpoint_, {}, warnings_));
  }

  [[nodiscard]] Result<TracedModel> traced(const KvPolicy& policy, int64_t batch) {
    return trace_functions(*model_, checkpoint_,
                           {.functions = {"score", "prefill", "chunk", "decode"},
                            .max_seq = kMaxSeq,
                            .batch = batch,
                            .kv = policy,
                            .result = ResultKind::kLogits},
                           warnings_);
  }

  // A random split of the text: a prefill, then chunks and decodes, all rows at their own pace.
  void feed_randomly(Feeder& feeder, std::mt19937& random) const {
    const auto up_to = [&](int64_t most) { return 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(most)); };
    const auto rows = static_cast<size_t>(feeder.batch());
    const auto lengths = [&](int64_t most) {
      std::vector<int64_t> out;
      for (size_t row = 0; row < rows; ++row) out.push_back(up_to(std::min(most, kMaxSeq - feeder.at(row))));
      return out;
    };
    const auto room = [&] {
      int64_t out = kMaxSeq;
      for (size_t row = 0; row < rows; ++row) out = std::min(out, kMaxSeq - feeder.at(row));
      return out;
    };
    const int64_t first = up_to(20);
    feeder.feed("prefill", first + up_to(4) - 1, lengths(first));
    while (room() > 0 && !::testing::Test::HasFatalFailure()) {
      const int64_t width = up_to(14);
      if (random() % 2 == 0)
        feeder.feed("chunk", width, lengths(width));
      else
        feeder.feed("decode", 1, std::vector<int64_t>(rows, 1));
    }
  }

  Warnings warnings_;
  Checkpoint checkpoint_;
  std::unique_ptr<Model> model_;
};

TEST_P(CachedTest, SplitsEqualTheWholeTextUnderEveryPolicy) {
  std::mt19937 random(7);
  double largest = 0;
  for (const PolicyCase& each : policies()) {
    for (const int64_t batch : {1, 3}) {
      SCOPED_TRACE(fmt::format("{}, batch {}", each.name, batch));
      ASSERT_OK_AND_ASSIGN(const TracedModel module, traced(each.policy, batch));
      Feeder scorer(checkpoint_, *model_, module);
      for (int round = 0; round < 2; ++round) {
        Feeder feeder(checkpoint_, *model_, module);
        feeder.score();
        feed_randomly(feeder, random);
        if (HasFatalFailure()) return;
        largest = std::max(largest, feeder.largest);
      }
    }
  }
  RecordProperty("largest", fmt::format("{}", largest));
}

// G03, G05: several windows at once, and in calls shorter than a window, as long, and longer. A layer that sees all of
// the text keeps all of it, whatever the others do.
TEST_P(CachedTest, CallsOfAnyLengthAroundTheWindow) {
  for (const PolicyCase& each : policies()) {
    ASSERT_OK_AND_ASSIGN(const TracedModel module, traced(each.policy, 1));
    int64_t window = 8;
    for (const CacheLayer& layer : module.layout.layers) window = std::max(window, layer.window);
    ASSERT_LE(3 * window, kMaxSeq);
    for (const CacheLayer& layer : module.layout.layers) {
      const bool few = each.policy.ring && layer.window > 0;
      EXPECT_EQ(module.layout.grows(layer), each.policy.extent == KvExtent::kConcat && !few);
      if (module.layout.grows(layer)) continue;
      EXPECT_EQ(module.layout.slots(layer), few ? layer.window : each.policy.capacity);
    }
    for (const int64_t width : {int64_t{1}, int64_t{3}, window, window + 1, 3 * window}) {
      SCOPED_TRACE(fmt::format("{}, {} at a time", each.name, width));
      Feeder feeder(checkpoint_, *model_, module);
      feeder.score();
      while (feeder.at(0) < 3 * window && !HasFatalFailure())
        feeder.feed(feeder.at(0) == 0 ? "prefill" : "chunk", width, {std::min(width, 3 * window - feeder.at(0))});
    }
  }
}

// G07: a first token without a prefill.
TEST_P(CachedTest, DecodeAndChunkTakeEmptyCaches) {
  for (const PolicyCase& each : policies()) {
    for (const std::string function : {"decode", "chunk"}) {
      SCOPED_TRACE(fmt::format("{}, {}", each.name, function));
      ASSERT_OK_AND_ASSIGN(const TracedModel module, traced(each.policy, 1));
      Feeder feeder(checkpoint_, *model_, module);
      feeder.score();
      feeder.begin_empty();
      for (int i = 0; i < 3; ++i) feeder.feed(function, 1, {1});
    }
  }
}

// G09: rows without a token in a call. Nothing that is computed of them is NaN, in any row, and they go on later.
TEST_P(CachedTest, RowsWithoutTokensAreHarmless) {
  for (const PolicyCase& each : policies()) {
    SCOPED_TRACE(each.name);
    ASSERT_OK_AND_ASSIGN(const TracedModel module, traced(each.policy, 3));
    Feeder feeder(checkpoint_, *model_, module);
    feeder.score();
    feeder.feed("prefill", 6, {0, 6, 3});
    feeder.feed("chunk", 5, {5, 2, 0});
    feeder.feed("chunk", 4, {0, 0, 4});
    for (int i = 0; i < 3; ++i) feeder.feed("decode", 1, {1, 1, 1});
  }
}

INSTANTIATE_TEST_SUITE_P(Models, CachedTest,
                         ::testing::Values("llama", "llama_tied", "llama_bias", "llama_linear", "llama_rope3",
                                           "mistral_nosw", "gemma3", "gemma3_linear", "gemma3_wrapped", "qwen2",
                                           "qwen3"),
                         [](const auto& each) { return each.param; });

}  // namespace
}  // namespace headrace
