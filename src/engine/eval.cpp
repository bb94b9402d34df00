#include "engine/eval.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headrace {

double PredictionScore::mean_nll() const { return tokens == 0 ? 0 : nll / static_cast<double>(tokens); }
double PredictionScore::perplexity() const { return std::exp(mean_nll()); }

Status add_prediction(std::span<const float> logits, int64_t token, PredictionScore& score) {
  if (token < 0 || static_cast<uint64_t>(token) >= logits.size())
    return fail(ErrorCode::kInput, "token {} is outside the vocabulary of {}", token, logits.size());
  size_t best = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    if (std::isnan(logits[i]) || logits[i] == std::numeric_limits<float>::infinity())
      return fail(ErrorCode::kEvaluate, "logit {} is {}, expected a number", i, logits[i]);
    if (logits[i] > logits[best]) best = i;
  }
  const double max = logits[best];
  if (!std::isfinite(max)) return fail(ErrorCode::kEvaluate, "{} logits, none above -inf", logits.size());
  double sum = 0;
  for (const float logit : logits) sum += std::exp(static_cast<double>(logit) - max);
  score.nll += max + std::log(sum) - static_cast<double>(logits[static_cast<size_t>(token)]);
  score.tokens += 1;
  score.top1 += static_cast<size_t>(token) == best ? 1 : 0;
  return {};
}

namespace {

// Of one window: the predictions whose targets come after the first `known` tokens of the text.
Status add_window(std::span<const int64_t> tokens, size_t start, size_t size, size_t known,
                  const std::vector<float>& rows, PredictionScore& score) {
  if (rows.empty() || rows.size() % size != 0)
    return fail(ErrorCode::kEvaluate, "{} logits for {} tokens, expected as many for each", rows.size(), size);
  const size_t vocabulary = rows.size() / size;
  for (size_t target = std::max(known, start + 1); target <= start + size && target < tokens.size(); ++target) {
    const std::span<const float> row(rows.data() + (target - start - 1) * vocabulary, vocabulary);
    HR_TRY_STATUS(add_prediction(row, tokens[target], score));
  }
  return {};
}

}  // namespace

Result<PredictionScore> evaluate_tokens(std::span<const int64_t> tokens, const EvaluationOptions& options,
                                        const ScoreTokens& score_tokens) {
  if (options.context < 1) return fail(ErrorCode::kOptions, "a context of {}, expected at least 1", options.context);
  if (options.stride < 1 || options.stride > options.context)
    return fail(ErrorCode::kOptions, "a stride of {}, expected 1 to {}", options.stride, options.context);
  if (tokens.size() < 2)
    return fail(ErrorCode::kInput, "{} tokens, expected at least 2: nothing is predicted", tokens.size());
  PredictionScore score;
  const auto context = static_cast<size_t>(options.context);
  size_t known = 1;  // tokens already predicted, or the first
  for (size_t start = 0; known < tokens.size(); start += static_cast<size_t>(options.stride)) {
    const size_t size = std::min(context, tokens.size() - 1 - start);
    HR_TRY(const auto rows, score_tokens(tokens.subspan(start, size)));
    HR_TRY_STATUS(add_window(tokens, start, size, known, rows, score));
    known = start + size + 1;
    if (options.on_window && !options.on_window(score, static_cast<int64_t>(tokens.size()) - 1))
      return fail(ErrorCode::kInterrupted, "stopped after {} of {} tokens", score.tokens, tokens.size() - 1);
  }
  return score;
}

}  // namespace headrace
