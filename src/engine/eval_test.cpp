#include "engine/eval.h"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

constexpr float kInfinity = std::numeric_limits<float>::infinity();

TEST(Evaluation, PredictionsAreNumpys) {
  std::ifstream in(std::string(HEADRACE_TESTDATA) + "/sampling/goldens.json");
  const auto goldens = nlohmann::json::parse(in);
  ASSERT_EQ(goldens["scores"].size(), 3U);
  for (const auto& golden : goldens["scores"]) {
    PredictionScore score;
    double nll = 0;
    for (size_t i = 0; i < golden["logits"].size(); ++i) {
      const auto row = golden["logits"][i].get<std::vector<float>>();
      ASSERT_THAT(add_prediction(row, golden["targets"][i], score), IsOk());
      nll += golden["nll"][i].get<double>();
    }
    EXPECT_NEAR(score.nll, nll, 1e-12 * nll);
    EXPECT_EQ(score.tokens, 6);
    EXPECT_EQ(score.top1, golden["top1"].get<int64_t>());
    EXPECT_NEAR(score.perplexity(), std::exp(nll / 6), 1e-9 * score.perplexity());
  }
}

TEST(Evaluation, LogitsThatAreNoNumbersAreErrors) {
  PredictionScore score;
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_THAT(add_prediction(std::vector<float>{0, nan}, 0, score),
              IsError(ErrorCode::kEvaluate, HasSubstr("logit 1")));
  EXPECT_THAT(add_prediction(std::vector<float>{kInfinity}, 0, score), IsError(ErrorCode::kEvaluate, HasSubstr("inf")));
  EXPECT_THAT(add_prediction(std::vector<float>{-kInfinity}, 0, score),
              IsError(ErrorCode::kEvaluate, HasSubstr("none")));
  EXPECT_THAT(add_prediction(std::vector<float>{0}, 1, score), IsError(ErrorCode::kInput, HasSubstr("token 1")));
  EXPECT_THAT(add_prediction(std::vector<float>{0}, -1, score), IsError(ErrorCode::kInput, HasSubstr("token -1")));
  EXPECT_EQ(score.tokens, 0);
  EXPECT_EQ(score.mean_nll(), 0);
  EXPECT_THAT(add_prediction(std::vector<float>{0, -kInfinity}, 1, score), IsOk());
  EXPECT_EQ(score.nll, std::numeric_limits<double>::infinity());
}

// Every token but the first is predicted once, whatever the windows; each by a row that has seen all of its window
// before it.
TEST(Evaluation, WindowsPredictEveryTokenOnce) {
  for (const int64_t count : {2, 3, 7, 16, 17, 40}) {
    std::vector<int64_t> tokens(static_cast<size_t>(count));
    for (size_t i = 0; i < tokens.size(); ++i) tokens[i] = static_cast<int64_t>(i);
    for (const int64_t context : {1, 2, 5, 16, 100}) {
      for (const int64_t stride : std::set<int64_t>{1, (context + 1) / 2, context}) {
        // A model that knows the next token of this text: it counts.
        int64_t windows = 0;
        const ScoreTokens next = [&](std::span<const int64_t> window) -> Result<std::vector<float>> {
          EXPECT_LE(static_cast<int64_t>(window.size()), context);
          ++windows;
          std::vector<float> rows(window.size() * tokens.size(), 0);
          for (size_t i = 0; i < window.size(); ++i) rows[i * tokens.size() + static_cast<size_t>(window[i]) + 1] = 50;
          return rows;
        };
        const auto score = evaluate_tokens(tokens, {.context = context, .stride = stride}, next);
        ASSERT_THAT(score, IsOk());
        EXPECT_EQ(score->tokens, count - 1) << count << " " << context << " " << stride;
        EXPECT_EQ(score->top1, count - 1);
        EXPECT_EQ(windows, count - 1 <= context ? 1 : 1 + (count - 1 - context + stride - 1) / stride);
      }
    }
  }
}

TEST(Evaluation, WhatDoesNotFitIsAnError) {
  const std::vector<int64_t> tokens = {0, 1, 0, 1};
  const ScoreTokens flat = [](std::span<const int64_t> window) -> Result<std::vector<float>> {
    return std::vector<float>(window.size() * 2, 0);
  };
  EXPECT_THAT(evaluate_tokens(tokens, {.context = 0, .stride = 1}, flat),
              IsError(ErrorCode::kOptions, HasSubstr("context of 0")));
  EXPECT_THAT(evaluate_tokens(tokens, {.context = 2, .stride = 3}, flat),
              IsError(ErrorCode::kOptions, HasSubstr("stride of 3")));
  EXPECT_THAT(evaluate_tokens(std::vector<int64_t>{1}, {.context = 2, .stride = 2}, flat),
              IsError(ErrorCode::kInput, HasSubstr("1 tokens")));
  EXPECT_THAT(evaluate_tokens(tokens, {.context = 2, .stride = 2},
                              [](auto) -> Result<std::vector<float>> { return std::vector<float>(3, 0); }),
              IsError(ErrorCode::kEvaluate, HasSubstr("3 logits for 2 tokens")));
  EXPECT_THAT(
      evaluate_tokens(tokens,
                      {.context = 1, .stride = 1, .on_window = [](const auto&, int64_t total) { return total != 3; }},
                      flat),
      IsError(ErrorCode::kInterrupted, HasSubstr("after 1 of 3 tokens")));
}

}  // namespace
}  // namespace headrace
