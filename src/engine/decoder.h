// Text in, next token out, over any engine: what a host does around an export's functions.
//
//   prefill  the text's first tokens, in the smallest program that holds them (padded on the right), or the largest
//   chunk    the rest of a longer text, in pieces; the last one padded
//   decode   one token
//   score    where an export has no caches: the whole text again for each token
//
// Caches are device buffers, handed from result to argument and donated; only a row of logits, or the token that the
// graph chose, is read. Ids and room are checked before each call: engines clamp what does not fit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace headrace {

// What a function of an export gives first (--result).
enum class ResultForm : uint8_t { kLogits, kLastLogits, kToken };

// A function as the decoder calls it: which arguments it has beside `tokens` and the caches, and at which lengths it
// exists.
struct DecodeFunction {
  const ManifestFunction* function{};
  ResultForm result{};
  bool has_length{};
  bool has_position{};
  bool state_inside{};
  std::vector<int64_t> lengths = {};         // of its programs, ascending
  std::optional<int64_t> any_up_to = {};     // instead: one program for every length up to this
  std::vector<size_t> cache_arguments = {};  // indices of arguments
  std::vector<size_t> cache_results = {};    // indices of results, in the order of the caches
};

// The continuation of a text as the last call gave it.
template <class F>
struct NextToken {
  std::optional<int64_t> token = {};  // chosen in the graph; else:
  HostTensor<F> logits = {};          // [n], n >= vocabulary()
};

// One text on an engine. Not to be used from several threads at once.
template <class F>
class Decoder {
 public:
  // Errors: kInput when the export has neither `score` nor the functions with caches in the form of docs/manifest.md,
  // or has them for a batch other than 1.
  [[nodiscard]] static Result<Decoder> open(std::shared_ptr<Engine<F>> engine);

  [[nodiscard]] const Manifest& manifest() const { return engine_->manifest(); }
  [[nodiscard]] int64_t vocabulary() const { return vocabulary_; }
  // Tokens a text can have: the caches' capacity, or the longest text that `score` takes.
  [[nodiscard]] int64_t capacity() const { return capacity_; }
  // False: the text is scored anew for each token.
  [[nodiscard]] bool has_caches() const { return !score_; }
  // True: the programs choose the next token, so that there are no logits.
  [[nodiscard]] bool chooses_tokens() const;
  // One of the tokenizer's end ids.
  [[nodiscard]] bool is_end(int64_t token) const;
  [[nodiscard]] int64_t length() const { return length_; }
  // Time spent in the engine so far, reading results included.
  [[nodiscard]] double engine_seconds() const { return engine_seconds_; }

  // What feed() refuses before anything is run.
  [[nodiscard]] Status check(std::span<const int64_t> tokens) const;
  // Compiles what a text of `tokens` and a continuation of up to `more`, token by token, need. Errors: those of
  // Engine::prepare; kInput, kCacheFull for `tokens` as feed() would.
  [[nodiscard]] Status prepare(int64_t tokens, int64_t more);
  // Appends tokens to the text. Errors: kInput (no tokens; an id outside the vocabulary; a text longer than the export
  // has functions for), kCacheFull: before anything is run. Those of Engine::run and read: the text is then lost, as by
  // clear().
  [[nodiscard]] Result<NextToken<F>> feed(std::span<const int64_t> tokens);
  // Begins a new text.
  void clear();

 private:
  struct Piece {
    const DecodeFunction* function{};
    int64_t tokens{};  // of the text
    int64_t padded{};  // in the program
  };

  explicit Decoder(std::shared_ptr<Engine<F>> engine) : engine_(std::move(engine)) {}
  [[nodiscard]] Status find_functions();
  [[nodiscard]] Status find_capacity();
  [[nodiscard]] Status check_room(int64_t tokens) const;
  // How `tokens` more are fed to a text of `length`.
  [[nodiscard]] Result<std::vector<Piece>> plan(int64_t length, int64_t tokens) const;
  [[nodiscard]] SymbolValues symbols(const Piece& piece) const;
  [[nodiscard]] Result<std::vector<EngineArgument>> arguments(const Piece& piece, std::span<const int64_t> tokens);
  [[nodiscard]] Result<BufferPtr> run(const Piece& piece, std::span<const int64_t> tokens);
  [[nodiscard]] Result<NextToken<F>> read(const Piece& piece, const DeviceBuffer& result);
  [[nodiscard]] Result<BufferPtr> upload_ids(std::span<const int64_t> ids, std::vector<int64_t> sizes);
  [[nodiscard]] Status empty_caches(const DecodeFunction& function);

  std::shared_ptr<Engine<F>> engine_;
  std::optional<DecodeFunction> score_, prefill_, chunk_, decode_;
  int64_t vocabulary_ = 0;
  int64_t capacity_ = 0;
  int64_t length_ = 0;
  int64_t slots_ = 0;          // `past` of caches that grow: what was run, padding included
  std::vector<int64_t> text_;  // kept for score alone
  std::vector<BufferPtr> caches_;
  double engine_seconds_ = 0;
};

enum class StopReason : uint8_t { kMaxTokens, kEos, kBound, kCaller };

template <class F>
struct ContinueOptions {
  int64_t max_tokens{};
  bool stop_at_eos{true};  // ends after the first of the tokenizer's end ids, which is part of the result
  // Ends where caches are full. Without, the next token there is the error kCacheFull. (A text that `score` cannot hold
  // always ends.)
  bool full_cache_ends{};
  // Chooses from a row of logits; empty: the largest, the lowest id of equal ones. Needs an export that gives logits.
  std::function<Result<int64_t>(std::span<const F> logits)> pick = {};
  // Called with each new token, the end id included; false ends the run, which an end id does as such.
  std::function<bool(int64_t token)> on_token = {};
};

struct Continuation {
  std::vector<int64_t> tokens;
  StopReason stop{};
  double first_token_seconds{};  // from the start to the first token
  double seconds{};              // all
  double engine_seconds{};       // of them in the engine
};

// Appends `fresh` to the decoder's text and continues it: at least one token unless max_tokens is 0. All tokens but the
// last are then in the decoder. Errors: those of feed(); kEvaluate when a logit is NaN; kInput when `pick` is set and
// the export gives tokens. on_token has seen the tokens before an error.
template <class F>
[[nodiscard]] Result<Continuation> continue_text(Decoder<F>& decoder, std::span<const int64_t> fresh,
                                                 const ContinueOptions<F>& options);

}  // namespace headrace
