#include "engine/decoder.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "engine/decode_function.h"
#include "engine/session.h"

namespace headrace {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The program length for so many tokens: the smallest that holds them, or the largest.
int64_t padded_length(const DecodeFunction& function, int64_t tokens) {
  if (function.any_up_to) return std::min(tokens, *function.any_up_to);
  const auto fit = std::ranges::lower_bound(function.lengths, tokens);
  return fit == function.lengths.end() ? function.lengths.back() : *fit;
}

int64_t longest(const DecodeFunction& function) {
  return function.any_up_to ? *function.any_up_to : function.lengths.back();
}

}  // namespace

template <class F>
Result<Decoder<F>> Decoder<F>::open(std::shared_ptr<Engine<F>> engine) {
  Decoder out(std::move(engine));
  HR_TRY_STATUS(out.find_functions());
  HR_TRY_STATUS(out.find_capacity());
  return out;
}

template <class F>
Status Decoder<F>::find_functions() {
  HR_TRY(prefill_, find_decode_function(manifest(), engine_->programs(), "prefill"));
  HR_TRY(chunk_, find_decode_function(manifest(), engine_->programs(), "chunk"));
  HR_TRY(decode_, find_decode_function(manifest(), engine_->programs(), "decode"));
  if (!chunk_ && !decode_) {
    HR_TRY(score_, find_decode_function(manifest(), engine_->programs(), "score"));
    if (!score_)
      return fail(ErrorCode::kInput,
                  "the export has no 'score', 'chunk' or 'decode' for {} (headrace export --functions)",
                  engine_->name());
    prefill_.reset();
  }
  HR_TRY(vocabulary_, vocabulary_of(manifest()));
  return {};
}

template <class F>
Status Decoder<F>::find_capacity() {
  if (score_) {
    capacity_ = longest(*score_);
    return {};
  }
  HR_TRY(capacity_, cache_capacity(manifest(), (chunk_ ? *chunk_ : *decode_).function->name));
  return {};
}

template <class F>
bool Decoder<F>::chooses_tokens() const {
  return std::ranges::any_of(std::array{&score_, &prefill_, &chunk_, &decode_}, [](const auto* function) {
    return *function && (*function)->result == ResultForm::kToken;
  });
}

template <class F>
bool Decoder<F>::is_end(int64_t token) const {
  const auto& tokenizer = manifest().tokenizer;
  return tokenizer && std::ranges::count(tokenizer->eos, token) != 0;
}

template <class F>
void Decoder<F>::clear() {
  caches_.clear();
  text_.clear();
  length_ = 0;
  slots_ = 0;
}

template <class F>
Status Decoder<F>::check(std::span<const int64_t> tokens) const {
  if (tokens.empty()) return fail(ErrorCode::kInput, "no tokens, expected 1 to {}", capacity_);
  for (size_t i = 0; i < tokens.size(); ++i)
    HR_TRY_STATUS(check_token(tokens[i], length_ + static_cast<int64_t>(i), vocabulary_));
  return check_room(static_cast<int64_t>(tokens.size()));
}

template <class F>
Status Decoder<F>::check_room(int64_t tokens) const {
  if (tokens <= capacity_ - length_) return {};
  if (score_)
    return fail(ErrorCode::kInput, "{} tokens, expected at most {} (the export's bound, --seq)", length_ + tokens,
                capacity_);
  if (length_ == 0)
    return fail(ErrorCode::kCacheFull, "{} tokens, more than the cache's capacity of {} (headrace export --kv)", tokens,
                capacity_);
  return fail(ErrorCode::kCacheFull,
              "the cache is full: it holds {} of {} tokens, {} more do not fit (headrace export --kv)", length_,
              capacity_, tokens);
}

template <class F>
Result<std::vector<typename Decoder<F>::Piece>> Decoder<F>::plan(int64_t length, int64_t tokens) const {
  if (score_) return std::vector<Piece>{{&*score_, length + tokens, padded_length(*score_, length + tokens)}};
  std::vector<Piece> out;
  while (tokens > 0) {
    const bool first = length == 0 && prefill_;
    const DecodeFunction* function = first                                 ? &*prefill_
                                     : (tokens == 1 || !chunk_) && decode_ ? &*decode_
                                     : chunk_                              ? &*chunk_
                                                                           : nullptr;
    HR_CHECK(function != nullptr);
    const int64_t padded = padded_length(*function, tokens);
    const int64_t now = std::min(tokens, padded);
    out.push_back({function, now, padded});
    length += now;
    tokens -= now;
  }
  return out;
}

template <class F>
Status Decoder<F>::prepare(int64_t tokens, int64_t more) {
  HR_TRY_STATUS(check_room(tokens));
  HR_TRY(std::vector<Piece> pieces, plan(length_, tokens));
  const int64_t last = length_ + tokens + std::min(more, capacity_ - length_ - tokens);
  if (score_) {  // a program for each length that the text goes through
    for (const int64_t length : score_->lengths)
      if (length > pieces.back().padded && pieces.back().padded < last) pieces.push_back({&*score_, length, length});
  } else if (last > length_ + tokens) {
    HR_TRY(const std::vector<Piece> step, plan(length_ + tokens, 1));
    pieces.push_back(step.front());
  }
  for (const Piece& piece : pieces) HR_TRY_STATUS(engine_->prepare(piece.function->function->name, symbols(piece)));
  return {};
}

template <class F>
SymbolValues Decoder<F>::symbols(const Piece& piece) const {
  SymbolValues out;
  for (const ManifestSymbol& symbol : piece.function->function->symbols)
    out[symbol.name] = symbol.name == "past" ? std::max(slots_, symbol.min) : piece.padded;
  return out;
}

template <class F>
Result<BufferPtr> Decoder<F>::upload_ids(std::span<const int64_t> ids, std::vector<int64_t> sizes) {
  HostTensor<F> tensor(DType::kI32, std::move(sizes));
  std::ranges::copy(ids, tensor.mutable_ints().begin());
  return engine_->upload(tensor);
}

// Caches of nothing, for an export without prefill: what lies in them is masked.
template <class F>
Status Decoder<F>::empty_caches(const DecodeFunction& function) {
  for (const size_t index : function.cache_arguments) {
    const ManifestArgument& cache = function.function->arguments[index];
    const Shape shape = substitute(cache.shape, {{"past", 0}});
    if (!is_static(shape))
      return fail(ErrorCode::kInput, "{}: cache '{}' is {}, expected sizes that are known", function.function->name,
                  cache.name, to_string(cache.shape));
    HR_TRY(BufferPtr buffer, engine_->upload(HostTensor<F>(cache.dtype, static_sizes(shape))));
    caches_.push_back(std::move(buffer));
  }
  return {};
}

template <class F>
Result<std::vector<EngineArgument>> Decoder<F>::arguments(const Piece& piece, std::span<const int64_t> tokens) {
  const DecodeFunction& function = *piece.function;
  std::vector<EngineArgument> out;
  HR_TRY(BufferPtr ids, upload_ids(tokens, {1, piece.padded}));
  out.push_back({std::move(ids)});
  if (function.has_length) {
    HR_TRY(BufferPtr length, upload_ids(std::array{piece.tokens}, {1}));
    out.push_back({std::move(length)});
  }
  if (function.has_position) {
    HR_TRY(BufferPtr position, upload_ids(std::array{length_}, {1}));
    out.push_back({std::move(position)});
  }
  if (function.state_inside) return out;
  if (caches_.empty()) HR_TRY_STATUS(empty_caches(function));
  for (size_t i = 0; i < function.cache_arguments.size(); ++i) out.push_back({caches_[i], true});
  return out;
}

// The first result; caches are taken over.
template <class F>
Result<BufferPtr> Decoder<F>::run(const Piece& piece, std::span<const int64_t> tokens) {
  const DecodeFunction& function = *piece.function;
  HR_TRY(const std::vector<EngineArgument> given, arguments(piece, tokens));
  HR_TRY(std::vector<BufferPtr> results, engine_->run(function.function->name, symbols(piece), given));
  if (score_) return std::move(results[0]);
  caches_.clear();
  if (!function.state_inside)
    for (const size_t index : function.cache_results) caches_.push_back(std::move(results[index]));
  length_ += piece.tokens;
  slots_ += piece.padded;
  return std::move(results[0]);
}

template <class F>
Result<NextToken<F>> Decoder<F>::read(const Piece& piece, const DeviceBuffer& result) {
  HR_TRY(const HostTensor<F> values, engine_->read(result));
  NextToken<F> out;
  if (piece.function->result == ResultForm::kToken) {
    out.token = values.ints()[0];
    if (*out.token < 0 || *out.token >= vocabulary_)
      return fail(ErrorCode::kEvaluate, "logits at position {}: {}", length_ - 1,
                  *out.token == -1 ? "one is NaN" : fmt::format("the graph chose token {}", *out.token));
    return out;
  }
  const int64_t row_length = values.sizes().back();
  if (values.elements() == row_length) {
    out.logits = values.reshaped({row_length});
    return out;
  }
  out.logits = HostTensor<F>(values.dtype(), {row_length});
  const auto row =
      values.floats().subspan(static_cast<size_t>((piece.tokens - 1) * row_length), static_cast<size_t>(row_length));
  std::ranges::copy(row, out.logits.mutable_floats().begin());
  return out;
}

template <class F>
Result<NextToken<F>> Decoder<F>::feed(std::span<const int64_t> tokens) {
  HR_TRY_STATUS(check(tokens));
  HR_TRY(const std::vector<Piece> pieces, plan(length_, static_cast<int64_t>(tokens.size())));
  if (score_) {
    text_.insert(text_.end(), tokens.begin(), tokens.end());
    length_ = static_cast<int64_t>(text_.size());
    tokens = text_;
  }
  const auto start = Clock::now();
  const auto work = [&]() -> Result<NextToken<F>> {
    BufferPtr last;
    for (const Piece& piece : pieces) {
      HR_TRY(last, run(piece, tokens.first(static_cast<size_t>(piece.tokens))));
      tokens = tokens.subspan(static_cast<size_t>(piece.tokens));
    }
    return read(pieces.back(), *last);
  };
  auto next = work();
  engine_seconds_ += seconds_since(start);
  if (!next) clear();
  return next;
}

namespace {

template <class F>
Result<int64_t> choose(const NextToken<F>& next, const Decoder<F>& decoder, const ContinueOptions<F>& options) {
  if (next.token) return *next.token;
  const auto logits = next.logits.floats().first(static_cast<size_t>(decoder.vocabulary()));
  auto chosen = options.pick ? options.pick(logits) : argmax(logits);
  if (!chosen) return fail(std::move(chosen).error().in(fmt::format("logits at position {}", decoder.length() - 1)));
  return *chosen;
}

// Why the text ends after `token`; nothing while it goes on.
template <class F>
std::optional<StopReason> end_after(int64_t token, size_t count, const Decoder<F>& decoder,
                                    const ContinueOptions<F>& options) {
  const bool goes_on = !options.on_token || options.on_token(token);
  if (options.stop_at_eos && decoder.is_end(token)) return StopReason::kEos;
  if (!goes_on) return StopReason::kCaller;
  if (static_cast<int64_t>(count) >= options.max_tokens) return StopReason::kMaxTokens;
  const bool may_end = options.full_cache_ends || !decoder.has_caches();
  if (may_end && decoder.length() >= decoder.capacity()) return StopReason::kBound;
  return std::nullopt;
}

}  // namespace

template <class F>
Result<Continuation> continue_text(Decoder<F>& decoder, std::span<const int64_t> fresh,
                                   const ContinueOptions<F>& options) {
  if (options.pick && decoder.chooses_tokens())
    return fail(ErrorCode::kInput, "the export gives tokens, not logits to choose from (headrace export --result)");
  Continuation out{.tokens = {}, .stop = StopReason::kMaxTokens};
  const auto start = Clock::now();
  const double engine_before = decoder.engine_seconds();
  std::optional<StopReason> end;
  if (options.max_tokens == 0) end = StopReason::kMaxTokens;
  while (!end) {
    HR_TRY(const NextToken<F> next, decoder.feed(out.tokens.empty() ? fresh : std::span(&out.tokens.back(), 1)));
    HR_TRY(const int64_t token, choose(next, decoder, options));
    out.tokens.push_back(token);
    if (out.tokens.size() == 1) out.first_token_seconds = seconds_since(start);
    end = end_after(token, out.tokens.size(), decoder, options);
  }
  out.stop = *end;
  out.seconds = seconds_since(start);
  out.engine_seconds = decoder.engine_seconds() - engine_before;
  return out;
}

template class Decoder<float>;
template class Decoder<double>;
template Result<Continuation> continue_text(Decoder<float>&, std::span<const int64_t>, const ContinueOptions<float>&);
template Result<Continuation> continue_text(Decoder<double>&, std::span<const int64_t>, const ContinueOptions<double>&);

}  // namespace headrace
