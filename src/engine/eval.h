// How well a model predicts a text: negative log-likelihood, perplexity, top-1.
//
// The text is scored in windows of `context` tokens that advance by `stride`. A window's tokens predict those that
// follow them; each token but the first of the text is predicted exactly once, by the first window that reaches it, so
// that from the second window on a prediction has at least context - stride + 1 tokens before it. (llama.cpp's
// perplexity tool scores the second halves of windows that do not overlap: half the work, half the tokens.)
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/result.h"

namespace headrace {

struct PredictionScore {
  double nll{};      // sum of -log p, in nats
  int64_t tokens{};  // predicted
  int64_t top1{};    // of them, those with the largest logit; of equal largest ones the lowest id counts
  [[nodiscard]] double mean_nll() const;    // 0 without tokens
  [[nodiscard]] double perplexity() const;  // exp(mean_nll())
};

// Adds what one row of logits [vocabulary] says of the token that came. log-sum-exp in f64. Errors: kEvaluate: a logit
// that is NaN or +inf, or no finite one; kInput: a token outside the row. A token of logit -inf has nll +inf.
[[nodiscard]] Status add_prediction(std::span<const float> logits, int64_t token, PredictionScore& score);

// Rows of logits, one for each token: [tokens, vocabulary], row-major.
using ScoreTokens = std::function<Result<std::vector<float>>(std::span<const int64_t> tokens)>;

struct EvaluationOptions {
  int64_t context{};  // tokens of a window, >= 1
  int64_t stride{};   // 1 .. context
  // After each window, with the score so far and how many tokens are to be predicted in all; false ends it.
  std::function<bool(const PredictionScore& so_far, int64_t total)> on_window = {};
};

// Errors: kOptions (context, stride), kInput (fewer than two tokens), kInterrupted (on_window said so), kEvaluate (rows
// that do not fit the tokens), those of `score_tokens` and add_prediction.
[[nodiscard]] Result<PredictionScore> evaluate_tokens(std::span<const int64_t> tokens, const EvaluationOptions& options,
                                                      const ScoreTokens& score_tokens);

}  // namespace headrace
