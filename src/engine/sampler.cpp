#include "engine/sampler.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headrace {
namespace {

struct Candidate {
  int64_t id{};
  double logit{};
};

bool falling(const Candidate& a, const Candidate& b) { return a.logit != b.logit ? a.logit > b.logit : a.id < b.id; }

Result<std::vector<Candidate>> read_logits(std::span<const float> logits) {
  std::vector<Candidate> out;
  out.reserve(logits.size());
  for (size_t i = 0; i < logits.size(); ++i) {
    const float logit = logits[i];
    if (std::isnan(logit) || logit == std::numeric_limits<float>::infinity())
      return fail(ErrorCode::kEvaluate, "logit {} is {}, expected a number", i, logit);
    if (std::isfinite(logit)) out.push_back({.id = static_cast<int64_t>(i), .logit = logit});
  }
  if (out.empty()) return fail(ErrorCode::kEvaluate, "no token may come: {} logits, none above -inf", logits.size());
  return out;
}

// Candidates are by rising id, but may lack some.
Status penalise(std::vector<Candidate>& candidates, std::span<const int64_t> history, size_t vocabulary,
                const SamplingOptions& options) {
  for (const int64_t id : history)
    if (id < 0 || static_cast<uint64_t>(id) >= vocabulary)
      return fail(ErrorCode::kInput, "token {} is outside the vocabulary of {}", id, vocabulary);
  if (options.repetition_penalty == 1) return {};
  const size_t window = std::min(history.size(), static_cast<size_t>(options.repetition_window));
  std::vector<int64_t> recent(history.end() - static_cast<ptrdiff_t>(window), history.end());
  std::ranges::sort(recent);
  recent.erase(std::unique(recent.begin(), recent.end()), recent.end());  // clang-14 cannot do ranges::unique
  for (const int64_t id : recent) {
    const auto it = std::ranges::lower_bound(candidates, id, {}, &Candidate::id);
    if (it == candidates.end() || it->id != id) continue;
    it->logit = it->logit > 0 ? it->logit / options.repetition_penalty : it->logit * options.repetition_penalty;
  }
  return {};
}

double total_weight(const std::vector<Candidate>& candidates, double max) {
  double sum = 0;
  for (const Candidate& c : candidates) sum += std::exp(c.logit - max);
  return sum;
}

// Puts the `count` first by falling logit to the front, in order.
void sort_front(std::vector<Candidate>& candidates, size_t count) {
  std::ranges::partial_sort(candidates, candidates.begin() + static_cast<ptrdiff_t>(count), falling);
}

// How many of the candidates, by falling logit, have p together; they are in order at the front then. Sorts no more
// than it must: the few likeliest of a large vocabulary usually do.
size_t count_for_mass(std::vector<Candidate>& candidates, double p, double max) {
  const double wanted = p * total_weight(candidates, max);
  for (size_t sorted = 256;; sorted *= 8) {
    sorted = std::min(sorted, candidates.size());
    sort_front(candidates, sorted);
    double sum = 0;
    for (size_t i = 0; i < sorted; ++i) {
      sum += std::exp(candidates[i].logit - max);
      if (sum >= wanted) return i + 1;
    }
    if (sorted == candidates.size()) return sorted;
  }
}

void truncate(std::vector<Candidate>& candidates, const SamplingOptions& options, double max) {
  if (options.top_k > 0 && static_cast<uint64_t>(options.top_k) < candidates.size()) {
    const auto k = static_cast<size_t>(options.top_k);
    sort_front(candidates, k);
    candidates.resize(k);
  }
  if (options.top_p < 1) candidates.resize(count_for_mass(candidates, options.top_p, max));
  if (options.min_p > 0)
    std::erase_if(candidates, [&](const Candidate& c) { return std::exp(c.logit - max) < options.min_p; });
}

}  // namespace

uint64_t splitmix64(uint64_t seed, uint64_t n) {
  uint64_t z = seed + (n + 1) * 0x9e3779b97f4a7c15U;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

double unit_fraction(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

Status check_sampling(const SamplingOptions& options) {
  const auto bad = [](const char* name, auto value, const char* wanted) {
    return fail(ErrorCode::kOptions, "{} is {}, expected {}", name, value, wanted);
  };
  if (!(options.temperature >= 0) || !std::isfinite(options.temperature))
    return bad("temperature", options.temperature, "a number from 0");
  if (options.top_k < 0) return bad("top-k", options.top_k, "an integer from 0");
  if (!(options.top_p > 0 && options.top_p <= 1)) return bad("top-p", options.top_p, "a number above 0, up to 1");
  if (!(options.min_p >= 0 && options.min_p <= 1)) return bad("min-p", options.min_p, "a number from 0 to 1");
  if (!(options.repetition_penalty > 0) || !std::isfinite(options.repetition_penalty))
    return bad("repetition penalty", options.repetition_penalty, "a number above 0");
  if (options.repetition_window < 0) return bad("repetition window", options.repetition_window, "an integer from 0");
  return {};
}

Result<Sampler> Sampler::make(const SamplingOptions& options) {
  HR_TRY_STATUS(check_sampling(options));
  return Sampler(options);
}

Result<std::vector<TokenProbability>> Sampler::distribution(std::span<const float> logits,
                                                            std::span<const int64_t> history) const {
  HR_TRY(auto candidates, read_logits(logits));
  HR_TRY_STATUS(penalise(candidates, history, logits.size(), options_));
  const Candidate best = *std::ranges::min_element(candidates, falling);
  if (options_.temperature == 0) return std::vector<TokenProbability>{{.id = best.id, .probability = 1}};
  truncate(candidates, options_, best.logit);
  std::ranges::sort(candidates, {}, &Candidate::id);
  std::vector<TokenProbability> out;
  out.reserve(candidates.size());
  double sum = 0;
  for (const Candidate& c : candidates) {
    out.push_back({.id = c.id, .probability = std::exp((c.logit - best.logit) / options_.temperature)});
    sum += out.back().probability;
  }
  for (TokenProbability& token : out) token.probability /= sum;
  return out;
}

Result<int64_t> Sampler::sample(std::span<const float> logits, std::span<const int64_t> history) {
  HR_TRY(const auto tokens, distribution(logits, history));
  const double u = unit_fraction(splitmix64(options_.seed, draws_++));
  double sum = 0;
  for (const TokenProbability& token : tokens) {
    sum += token.probability;
    if (sum > u) return token.id;
  }
  // Rounding may leave the sum a little below 1: the last token that can come.
  const auto last =
      std::ranges::find_if(tokens.rbegin(), tokens.rend(), [](const auto& t) { return t.probability > 0; });
  return last->id;
}

}  // namespace headrace
