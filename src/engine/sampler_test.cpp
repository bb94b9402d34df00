#include "engine/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>

#include "base/testing.h"

namespace headrace {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// tests/sampling/make_sampling_goldens.py writes this, by numpy.
json goldens() {
  std::ifstream in(std::string(HEADRACE_TESTDATA) + "/sampling/goldens.json");
  return json::parse(in);
}

std::vector<float> row_of(const json& values) {
  std::vector<float> out;
  for (const json& value : values) out.push_back(value.is_null() ? -kInfinity : value.get<float>());
  return out;
}

SamplingOptions options_of(const json& o) {
  return {.temperature = o["temperature"],
          .top_k = o.value("top_k", int64_t{0}),
          .top_p = o.value("top_p", 1.0),
          .min_p = o.value("min_p", 0.0),
          .repetition_penalty = o.value("repetition_penalty", 1.0),
          .repetition_window = o.value("repetition_window", int64_t{64}),
          .seed = o["seed"]};
}

Sampler make(const SamplingOptions& options) {
  auto sampler = Sampler::make(options);
  EXPECT_THAT(sampler, IsOk());
  return *sampler;
}

TEST(Sampler, DistributionsAndDrawsAreNumpys) {
  const json all = goldens();
  ASSERT_GT(all["sampling"].size(), 50U);
  for (const json& golden : all["sampling"]) {
    SCOPED_TRACE(golden["row"].get<std::string>() + " " + golden["options"].dump());
    const auto logits = row_of(all["rows"][golden["row"].get<std::string>()]);
    const auto history = golden["history"].get<std::vector<int64_t>>();
    Sampler sampler = make(options_of(golden["options"]));
    const auto tokens = sampler.distribution(logits, history);
    ASSERT_THAT(tokens, IsOk());
    ASSERT_EQ(tokens->size(), golden["ids"].size());
    for (size_t i = 0; i < tokens->size(); ++i) {
      EXPECT_EQ((*tokens)[i].id, golden["ids"][i].get<int64_t>());
      EXPECT_NEAR((*tokens)[i].probability, golden["probabilities"][i].get<double>(), 1e-13);
    }
    for (const json& wanted : golden["draws"]) {
      const auto token = sampler.sample(logits, history);
      ASSERT_THAT(token, IsOk());
      EXPECT_EQ(*token, wanted.get<int64_t>());
    }
  }
}

TEST(Sampler, RandomNumbersAreSplitMix64s) {
  const json all = goldens();
  for (uint64_t n = 0; n < 4; ++n) {
    EXPECT_EQ(std::to_string(splitmix64(0, n)), all["splitmix64_of_0"][n].get<std::string>());
  }
  EXPECT_EQ(unit_fraction(0), 0);
  EXPECT_LT(unit_fraction(std::numeric_limits<uint64_t>::max()), 1);
}

TEST(Sampler, FrequenciesAreTheProbabilities) {
  const std::vector<float> logits = {0, 1, -1, 2, 0.5F};
  Sampler sampler = make({.temperature = 1.5, .seed = 12345});
  const auto expected = sampler.distribution(logits, {});
  ASSERT_THAT(expected, IsOk());
  constexpr int kDraws = 50'000;
  std::map<int64_t, int> counts;
  for (int i = 0; i < kDraws; ++i) ++counts[*sampler.sample(logits, {})];
  double chi_square = 0;
  for (const auto& [id, probability] : *expected) {
    const double wanted = probability * kDraws;
    chi_square += (counts[id] - wanted) * (counts[id] - wanted) / wanted;
  }
  EXPECT_LT(chi_square, 23.5);  // four degrees of freedom: 1 in 10,000
}

TEST(Sampler, SeedsGiveOtherDraws) {
  const std::vector<float> logits(1000, 0);
  const auto draws = [&logits](uint64_t seed) {
    Sampler sampler = make({.temperature = 1, .seed = seed});
    std::vector<int64_t> out;
    for (int i = 0; i < 20; ++i) out.push_back(*sampler.sample(logits, {}));
    return out;
  };
  EXPECT_EQ(draws(1), draws(1));
  EXPECT_NE(draws(1), draws(2));
  EXPECT_NE(draws(1), draws(std::numeric_limits<uint64_t>::max()));
}

TEST(Sampler, GreedyTakesTheLowestOfTheLargest) {
  EXPECT_EQ(*make({}).sample(std::vector<float>{1, 3, 3, 2}, {}), 1);
  EXPECT_EQ(*make({.repetition_penalty = 2}).sample(std::vector<float>{1, 3, 3, 2}, std::vector<int64_t>{1}), 2);
}

TEST(Sampler, LogitsThatAreNoNumbersAreErrors) {
  Sampler sampler = make({.temperature = 1});
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(sampler.sample(std::vector<float>{0, nan}, {}),
              IsError(ErrorCode::kEvaluate, HasSubstr("logit 1 is nan")));
  EXPECT_THAT(sampler.sample(std::vector<float>{kInfinity}, {}), IsError(ErrorCode::kEvaluate, HasSubstr("logit 0")));
  EXPECT_THAT(sampler.sample(std::vector<float>{-kInfinity}, {}),
              IsError(ErrorCode::kEvaluate, HasSubstr("none above")));
  EXPECT_THAT(sampler.sample({}, {}), IsError(ErrorCode::kEvaluate, HasSubstr("0 logits")));
  EXPECT_THAT(make({}).sample(std::vector<float>{0, nan}, {}), IsError(ErrorCode::kEvaluate, HasSubstr("logit 1")));
  EXPECT_THAT(sampler.sample(std::vector<float>{0, 1}, std::vector<int64_t>{2}),
              IsError(ErrorCode::kInput, HasSubstr("token 2")));
}

TEST(Sampler, OptionsOutOfRangeAreErrors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<SamplingOptions, std::string>> bad = {
      {{.temperature = -1}, "temperature is -1"},
      {{.temperature = nan}, "temperature is nan"},
      {{.temperature = std::numeric_limits<double>::infinity()}, "temperature is inf"},
      {{.top_k = -1}, "top-k is -1"},
      {{.top_p = 0}, "top-p is 0"},
      {{.top_p = 1.5}, "top-p is 1.5"},
      {{.top_p = nan}, "top-p is nan"},
      {{.min_p = -0.5}, "min-p is -0.5"},
      {{.min_p = 2}, "min-p is 2"},
      {{.repetition_penalty = 0}, "repetition penalty is 0"},
      {{.repetition_penalty = nan}, "repetition penalty is nan"},
      {{.repetition_window = -1}, "repetition window is -1"},
  };
  for (const auto& [options, part] : bad)
    EXPECT_THAT(Sampler::make(options), IsError(ErrorCode::kOptions, HasSubstr(part)));
}

TEST(Sampler, SmallTemperaturesDoNotOverflow) {
  const std::vector<float> logits = {-30000, 30000, 29999};
  EXPECT_EQ(*make({.temperature = 1e-300}).sample(logits, {}), 1);
}

}  // namespace
}  // namespace headrace
