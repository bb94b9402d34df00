// An export, opened to run on the built-in interpreter. (decoder.h continues texts, on any engine.)
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/archive.h"
#include "ir/module.h"
#include "weights/manifest.h"

namespace headrace {

struct ScoreOptions {
  // Pads on the right with token 0 to this length, as the static programs for engines must; the rows of the padding are
  // cut off again. Causality keeps the leading rows as they are without padding. 0: run at the exact length.
  int64_t pad_to{0};
};

// The index of the largest value, the lowest of equal ones. Errors: kEvaluate when a value is NaN (names its index) or
// there is none.
template <class F>
[[nodiscard]] Result<int64_t> argmax(std::span<const F> values);

// F is what floats are computed in, float or double. Immutable; several threads may run it at once.
template <class F>
class Session {
 public:
  // Errors: those of load_export and Archive::open; kHirParse and kVerify for a damaged module.
  [[nodiscard]] static Result<Session> open(const std::string& directory);

  [[nodiscard]] const Manifest& manifest() const { return state_->manifest; }
  [[nodiscard]] const Module& module() const { return state_->module; }

  // Options of all runs to come.
  InterpreterOptions<F> options = {};

  // Any function of the export. Errors: those of interpret().
  [[nodiscard]] Result<std::vector<HostTensor<F>>> run(std::string_view function,
                                                       std::vector<HostTensor<F>> inputs) const;

  // Logits [1, tokens, vocabulary] of the function `score`. Errors: kInput, one line: no such function, no tokens, an
  // id outside [0, vocabulary), more tokens than the bound; those of interpret().
  [[nodiscard]] Result<HostTensor<F>> score(std::span<const int64_t> tokens, const ScoreOptions& score = {}) const;

  // What `score` takes. Errors: kInput when there is no such function or it is not tokens to logits.
  struct ScoreShape {
    int64_t max_tokens{};  // the bound
    int64_t vocabulary{};
  };
  [[nodiscard]] Result<ScoreShape> score_shape() const;

 private:
  struct State {
    Manifest manifest;
    Module module;
    ArchiveParameters<F> parameters;
  };
  explicit Session(std::shared_ptr<const State> state) : state_(std::move(state)) {}
  [[nodiscard]] Result<ScoreShape> check_tokens(std::span<const int64_t> tokens) const;

  std::shared_ptr<const State> state_;
};

}  // namespace headrace
