// Tokens one after the other until something ends them, with their text as it comes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/decoder.h"
#include "engine/sampler.h"
#include "tokenizer/tokenizer.h"

namespace headrace::tools {

enum class AnswerStop : uint8_t { kMaxTokens, kEos, kStopText, kBound, kCaller };

struct AnswerOptions {
  int64_t max_tokens{};
  bool stop_at_ends{true};
  std::vector<int64_t> ends = {};       // tokens that end it; they belong to the tokens, not to the text
  std::vector<std::string> stops = {};  // texts that end it; they do not belong to the text. They need a tokenizer
  bool show_special{};                  // control tokens as they are spelt
  // Without: where caches are full the next token is the error kCacheFull. (A text that `score` cannot hold always
  // ends.)
  bool full_cache_ends{true};
  std::function<void(int64_t token)> on_token = {};
  // Each false ends it. on_text: whole characters only.
  std::function<bool(std::string_view text)> on_text = {};
  std::function<bool()> go_on = {};
};

struct Answer {
  std::vector<int64_t> tokens;
  std::string text;  // empty without a tokenizer
  AnswerStop stop{};
  double first_token_seconds{};
  double seconds{};
  double engine_seconds{};
};

// Appends `fresh` to the decoder's text and continues it. All tokens but the last of the result are then in the
// decoder; `history` gets fresh and these. Errors: those of Decoder::feed and Sampler::sample.
[[nodiscard]] Result<Answer> answer(Decoder<float>& decoder, const std::optional<Tokenizer>& tokenizer,
                                    Sampler& sampler, std::span<const int64_t> fresh, std::vector<int64_t>& history,
                                    const AnswerOptions& options);

}  // namespace headrace::tools
