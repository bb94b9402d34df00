// Picks the next token from a row of logits. docs/sampling.md compares each step with llama.cpp and transformers.
//
// In this order, each step on what the one before left:
//   1. repetition penalty: of each token among the last `repetition_window`, once however often it is there, a logit
//      above 0 is divided by the penalty and one below is multiplied (Keskar et al. 2019, CTRL)
//   2. temperature 0: the largest logit, of equal ones the lowest id; nothing below is looked at
//   3. top-k: the k largest logits, of equal ones the lower ids
//   4. top-p: of the rest, by falling logit, as few as have a probability of at least p together (Holtzman et al. 2020)
//   5. min-p: those with at least min-p times the probability of the likeliest (Nguyen et al. 2024)
//   6. temperature: logits are divided by it; softmax over what is left
//   7. the draw: the first token, by rising id, at which the sum of probabilities exceeds a random number in [0, 1)
//
// Everything is computed in f64. The random number of the n-th draw is a function of seed and n alone (SplitMix64,
// Steele et al. 2014), so equal logits and options give equal tokens on every machine with the same exp().
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"

namespace headrace {

struct SamplingOptions {
  double temperature{0};          // >= 0; 0 is greedy
  int64_t top_k{0};               // >= 0; 0 is off
  double top_p{1};                // (0, 1]; 1 is off
  double min_p{0};                // [0, 1]; 0 is off
  double repetition_penalty{1};   // > 0; 1 is off
  int64_t repetition_window{64};  // >= 0 tokens, the prompt's included; 0 is off
  uint64_t seed{0};
};

// Errors: kOptions, naming the first value that is out of range.
[[nodiscard]] Status check_sampling(const SamplingOptions& options);

struct TokenProbability {
  int64_t id{};
  double probability{};
};

class Sampler {
 public:
  // Errors: check_sampling's.
  [[nodiscard]] static Result<Sampler> make(const SamplingOptions& options);

  // Always the likeliest token, whatever came before it: argmax() does the same.
  [[nodiscard]] bool is_greedy() const { return options_.temperature == 0 && options_.repetition_penalty == 1; }

  // `logits` is one row [vocabulary]; -inf is a token that may not come. `history` are the tokens so far. Errors:
  // kEvaluate: a logit that is NaN or +inf (names its index), or none above -inf; kInput: a history id outside the row.
  // Counts as a draw only when it succeeds, greedy or not.
  [[nodiscard]] Result<int64_t> sample(std::span<const float> logits, std::span<const int64_t> history);

  // What sample would draw from, by rising id; one token when greedy.
  [[nodiscard]] Result<std::vector<TokenProbability>> distribution(std::span<const float> logits,
                                                                   std::span<const int64_t> history) const;

 private:
  explicit Sampler(const SamplingOptions& options) : options_(options) {}

  SamplingOptions options_;
  uint64_t draws_{};
};

// The n-th number, from 0, of the SplitMix64 sequence that starts at `seed`; its upper 53 bits as a fraction in [0, 1).
[[nodiscard]] uint64_t splitmix64(uint64_t seed, uint64_t n);
[[nodiscard]] double unit_fraction(uint64_t bits);

}  // namespace headrace
