#include "tools/answer.h"

#include <algorithm>
#include <chrono>

#include "tools/stop_text.h"

namespace headrace::tools {
namespace {

using Clock = std::chrono::steady_clock;

double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

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

Result<int64_t> pick(const NextToken<float>& next, Decoder<float>& decoder, Sampler& sampler,
                     std::span<const int64_t> history) {
  if (next.token) return *next.token;
  return sampler.sample(next.logits.floats().first(static_cast<size_t>(decoder.vocabulary())), history);
}

// Why the answer ends after the token `id`; nothing while it goes on.
Result<std::optional<AnswerStop>> end_after(int64_t id, size_t count, const Decoder<float>& decoder, Shower& shower,
                                            const AnswerOptions& options) {
  if (options.stop_at_ends && std::ranges::find(options.ends, id) != options.ends.end()) return AnswerStop::kEos;
  HR_TRY(const bool wanted, shower.push(id));
  if (shower.stopped()) return AnswerStop::kStopText;
  if (!wanted || (options.go_on && !options.go_on())) return AnswerStop::kCaller;
  if (static_cast<int64_t>(count) >= options.max_tokens) return AnswerStop::kMaxTokens;
  const bool may_end = options.full_cache_ends || !decoder.has_caches();
  if (may_end && decoder.length() >= decoder.capacity()) return AnswerStop::kBound;
  return std::nullopt;
}

}  // namespace

Result<Answer> answer(Decoder<float>& decoder, const std::optional<Tokenizer>& tokenizer, Sampler& sampler,
                      std::span<const int64_t> fresh, std::vector<int64_t>& history, const AnswerOptions& options) {
  Answer out;
  const auto start = Clock::now();
  const double engine_before = decoder.engine_seconds();
  Shower shower(tokenizer, options, out.text);
  HR_TRY(auto next, decoder.feed(fresh));
  history.insert(history.end(), fresh.begin(), fresh.end());
  while (true) {
    HR_TRY(const int64_t id, pick(next, decoder, sampler, history));
    if (out.tokens.empty()) out.first_token_seconds = since(start);
    out.tokens.push_back(id);
    if (options.on_token) options.on_token(id);
    HR_TRY(const auto end, end_after(id, out.tokens.size(), decoder, shower, options));
    if (end) {
      out.stop = *end;
      break;
    }
    HR_TRY(next, decoder.feed(std::span(&id, 1)));
    history.push_back(id);
  }
  shower.finish();
  out.seconds = since(start);
  out.engine_seconds = decoder.engine_seconds() - engine_before;
  return out;
}

}  // namespace headrace::tools
