#include "tools/answer.h"

#include <algorithm>
#include <utility>

#include "tools/stop_text.h"

namespace headrace::tools {
namespace {

AnswerStop answer_stop(StopReason reason) {
  switch (reason) {
    case StopReason::kMaxTokens:
      return AnswerStop::kMaxTokens;
    case StopReason::kEos:
      return AnswerStop::kEos;
    case StopReason::kBound:
      return AnswerStop::kBound;
    case StopReason::kCaller:
      return AnswerStop::kCaller;
  }
  return AnswerStop::kCaller;
}

// The text side: tokens in, shown text out.
class Shower {
 public:
  Shower(const std::optional<Tokenizer>& tokenizer, const AnswerOptions& options, std::string& text)
      : options_(options), stop_(options.stops), text_(text) {
    if (tokenizer) decoder_.emplace(*tokenizer, DecodeOptions{.show_special = options.show_special, .at_start = false});
  }

  // False: on_text said so.
  Result<bool> push(int64_t id) {
    if (!decoder_) return true;
    HR_TRY(const std::string part, decoder_->push(id));
    return show(stop_.push(part));
  }
  void finish() {
    if (!decoder_ || stop_.stopped()) return;
    show(stop_.push(decoder_->finish()));
    if (!stop_.stopped()) show(stop_.finish());
  }
  [[nodiscard]] bool stopped() const { return stop_.stopped(); }

 private:
  bool show(const std::string& part) {
    text_ += part;
    return part.empty() || !options_.on_text || options_.on_text(part);
  }

  const AnswerOptions& options_;
  std::optional<StreamDecoder> decoder_;
  StopText stop_;
  std::string& text_;
};

}  // namespace

Result<Answer> answer(Decoder<float>& decoder, const std::optional<Tokenizer>& tokenizer, Sampler& sampler,
                      std::span<const int64_t> fresh, std::vector<int64_t>& history, const AnswerOptions& options) {
  Answer out;
  Shower shower(tokenizer, options, out.text);
  Status shown;
  HR_CHECK(options.max_tokens > 0);
  history.insert(history.end(), fresh.begin(), fresh.end());
  ContinueOptions<float> continued{.max_tokens = options.max_tokens,
                                   .stop_at_eos = options.stop_at_ends,
                                   .full_cache_ends = options.full_cache_ends};
  // The last token joins the history when it is fed: before the next one is chosen, or not at all.
  std::optional<int64_t> last;
  const auto note_last = [&] {
    if (last) history.push_back(*std::exchange(last, std::nullopt));
  };
  continued.on_token = [&](int64_t id) {
    note_last();
    last = id;
    if (options.on_token) options.on_token(id);
    if (options.stop_at_ends && decoder.is_end(id)) return true;
    const auto wanted = shower.push(id);
    if (!wanted) shown = fail(wanted.error());
    return wanted && *wanted && !shower.stopped() && (!options.go_on || options.go_on());
  };
  if (!sampler.is_greedy())
    continued.pick = [&](std::span<const float> logits) {
      note_last();
      return sampler.sample(logits, history);
    };
  HR_TRY(auto made, continue_text(decoder, fresh, continued));
  HR_TRY_STATUS(shown);
  shower.finish();
  out.tokens = std::move(made.tokens);
  out.stop = made.stop == StopReason::kCaller && shower.stopped() ? AnswerStop::kStopText : answer_stop(made.stop);
  out.first_token_seconds = made.first_token_seconds;
  out.seconds = made.seconds;
  out.engine_seconds = made.engine_seconds;
  return out;
}

}  // namespace headrace::tools
