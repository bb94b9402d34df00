#include "tokenizer/tokenizer.h"

#include <algorithm>

#include "tokenizer/byte_alphabet.h"
#include "tokenizer/tokenizer_parts.h"
#include "tokenizer/utf8.h"

namespace headrace {
namespace {

// One text on its way through the parts.
class Encoding {
 public:
  Encoding(const TokenizerParts& parts, bool parse_special)
      : parts_(parts), parse_special_(parse_special), splitter_(parts.splitters) {}

  Status run(std::string_view text) {
    constexpr size_t kWorthCaching = 8192;  // bytes
    if (text.size() >= kWorthCaching) scratch_.cache.enable();
    for (const AddedTokens::Part& part : parts_.added.split(text, parse_special_)) {
      if (part.token >= 0) {
        ids_.push_back(part.token);
      } else {
        HR_TRY_STATUS(normalize(text.substr(part.span.begin, part.span.end - part.span.begin), part.span.begin == 0));
      }
    }
    return {};
  }
  [[nodiscard]] std::vector<int64_t> take() { return std::move(ids_); }

 private:
  Status normalize(std::string_view text, bool first) {
    std::string normal;
    bool changed = false;
    for (const auto& normalizer : parts_.normalizers) {
      HR_TRY(normal, normalizer->apply(changed ? std::string_view(normal) : text));
      changed = true;
    }
    if (changed) text = normal;
    for (const AddedTokens::Part& part : parts_.added_normalized.split(text, parse_special_)) {
      if (part.token >= 0) {
        ids_.push_back(part.token);
        continue;
      }
      const Word word{.text = text.substr(part.span.begin, part.span.end - part.span.begin),
                      .first = first && part.span.begin == 0};
      HR_TRY_STATUS(
          splitter_.run(word, [this](const Word& w) { return parts_.model->encode(w.text, ids_, scratch_); }));
    }
    return {};
  }

  const TokenizerParts& parts_;
  bool parse_special_;
  Splitter splitter_;
  WordScratch scratch_;
  std::vector<int64_t> ids_;
};

bool is_special_type(PieceType type) {
  return type == PieceType::kControl || type == PieceType::kUnknown || type == PieceType::kUnused;
}

// The bytes that one token adds.
std::string spell_token(const TokenizerParts& parts, size_t id, const DecodeOptions& options, DecoderState& state) {
  const PieceType type = parts.types[id];
  if (is_special_type(type) && !options.show_special) return "";
  const std::string& piece = parts.pieces[id];
  if (parts.verbatim_added && type == PieceType::kByte) {
    state.first = false;
    state.text_begun = true;
    const auto byte = byte_of_piece(piece);
    return byte ? std::string(1, static_cast<char>(*byte)) : piece;
  }
  if (parts.verbatim_added && type != PieceType::kNormal) {
    state.first = false;
    state.text_begun = true;
    return piece;
  }
  return spell(parts.decoder, piece, state);
}

Result<size_t> checked_id(const TokenizerParts& parts, int64_t id) {
  if (id < 0 || static_cast<uint64_t>(id) >= parts.pieces.size())
    return fail(ErrorCode::kInput, "token {}: outside the vocabulary of {}", id, parts.pieces.size());
  return static_cast<size_t>(id);
}

DecoderState state_of(const DecodeOptions& options) {
  return {.first = options.at_start, .text_begun = !options.at_start};
}

}  // namespace

Result<std::vector<int64_t>> Tokenizer::encode(std::string_view text, const EncodeOptions& options) const {
  if (parts_->refused) return fail(*parts_->refused);
  Encoding encoding(*parts_, options.parse_special);
  if (parts_->needs_utf8 && !is_utf8(text)) {
    HR_TRY_STATUS(encoding.run(with_replacements(text)));
  } else {
    HR_TRY_STATUS(encoding.run(text));
  }
  std::vector<int64_t> ids = encoding.take();
  if (options.add_special) {
    ids.insert(ids.begin(), parts_->prefix.begin(), parts_->prefix.end());
    ids.insert(ids.end(), parts_->suffix.begin(), parts_->suffix.end());
  }
  return ids;
}

std::optional<Error> Tokenizer::cannot_encode() const { return parts_->refused; }

Result<std::string> Tokenizer::decode(std::span<const int64_t> ids, const DecodeOptions& options) const {
  std::string out;
  DecoderState state = state_of(options);
  for (const int64_t id : ids) {
    HR_TRY(const size_t index, checked_id(*parts_, id));
    out += spell_token(*parts_, index, options, state);
  }
  return out;
}

int64_t Tokenizer::size() const { return static_cast<int64_t>(parts_->pieces.size()); }

std::string_view Tokenizer::piece(int64_t id) const {
  const auto index = checked_id(*parts_, id);
  return index ? std::string_view(parts_->pieces[*index]) : std::string_view();
}

std::optional<int64_t> Tokenizer::find(std::string_view piece) const {
  const int32_t id = parts_->index.find(piece);
  return id < 0 ? std::nullopt : std::optional<int64_t>(id);
}

bool Tokenizer::is_special(int64_t id) const {
  const auto index = checked_id(*parts_, id);
  return index && is_special_type(parts_->types[*index]);
}

std::optional<int64_t> Tokenizer::bos() const { return parts_->bos; }
const std::vector<int64_t>& Tokenizer::ends() const { return parts_->ends; }
bool Tokenizer::adds_bos() const {
  return parts_->bos && !parts_->prefix.empty() && parts_->prefix.front() == *parts_->bos;
}

StreamDecoder::StreamDecoder(Tokenizer tokenizer, const DecodeOptions& options)
    : tokenizer_(std::move(tokenizer)), options_(options), state_(std::make_unique<DecoderState>(state_of(options))) {}
StreamDecoder::~StreamDecoder() = default;
StreamDecoder::StreamDecoder(StreamDecoder&&) noexcept = default;
StreamDecoder& StreamDecoder::operator=(StreamDecoder&&) noexcept = default;

Result<std::string> StreamDecoder::push(int64_t id) {
  HR_TRY(const size_t index, checked_id(tokenizer_.parts(), id));
  held_ += spell_token(tokenizer_.parts(), index, options_, *state_);
  std::string out = held_.substr(0, held_.size() - incomplete_tail(held_));
  held_.erase(0, out.size());
  return out;
}

std::string StreamDecoder::finish() {
  *state_ = state_of(options_);
  return std::exchange(held_, {});
}

}  // namespace headrace
