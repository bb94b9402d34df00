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
  bool stop_at_ends{true};              // at the tokenizer's end ids, which belong to the tokens, not to the text
  std::vector<std::string> stops = {};  // texts that end it; they do not belong to the text. They need a tokenizer
  bool show_special{};                  // control tokens as they are spelt
  bool full_cache_ends{true};           // see ContinueOptions
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

// continue_text() with text. `history` gets the tokens that are in the decoder then: fresh, and all of the result but
// the last. Errors: those of continue_text and Sampler::sample.
[[nodiscard]] Result<Answer> answer(Decoder<float>& decoder, const std::optional<Tokenizer>& tokenizer,
                                    Sampler& sampler, std::span<const int64_t> fresh, std::vector<int64_t>& history,
                                    const AnswerOptions& options);

}  // namespace headrace::tools
