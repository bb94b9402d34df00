// Text to token ids and back. A tokenizer comes from a GGUF's metadata, from a Hugging Face tokenizer.json, or from the
// file that an export carries (tokenizer_file.h); all three meet here.
//
// Which oracle each agrees with, and where it does not: docs/tokenizers.md.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headrace {

struct TokenizerParts;  // tokenizer_parts.h
struct DecoderState;    // decoder_steps.h

struct EncodeOptions {
  // What the file puts around a text: bos, eos, a template. False: the text alone.
  bool add_special = true;
  // Whether the text of a control token (`<|im_start|>`) becomes that token. False: it is text like any other, which
  // is what a text from outside wants. User-defined tokens that are not control tokens are found either way.
  bool parse_special = false;
};

struct DecodeOptions {
  bool show_special = false;  // control tokens as they are spelt; false: they add nothing
  // Whether the ids begin a text, so that the space which the file's rules put before a text is taken off again. False
  // for ids that continue one.
  bool at_start = true;
};

// Immutable and cheap to copy; one may be used by several threads.
class Tokenizer {
 public:
  explicit Tokenizer(std::shared_ptr<const TokenizerParts> parts) : parts_(std::move(parts)) {}

  // Any bytes are a text: those that are not UTF-8 are kept by vocabularies with byte pieces, and are U+FFFD, each, to
  // others. Takes time in proportion to the text, but for a logarithm in its longest word.
  // Errors: kConfigUnsupported (by name, what this file wants and we do not have: its ids can be spelt, but no text
  // encoded), kInput (a pattern of the file gives up on this text).
  [[nodiscard]] Result<std::vector<int64_t>> encode(std::string_view text, const EncodeOptions& options = {}) const;
  // The error encode() gives for every text; empty if it does encode.
  [[nodiscard]] std::optional<Error> cannot_encode() const;

  // The bytes that the ids spell, which may end inside a character. Errors: kInput (an id outside the vocabulary).
  [[nodiscard]] Result<std::string> decode(std::span<const int64_t> ids, const DecodeOptions& options = {}) const;

  [[nodiscard]] int64_t size() const;  // ids are below it; ids without a piece may be among them
  // As the file spells it: `Ġthe`, `▁the`, `<0x0A>`. Empty for an id without a piece or outside the vocabulary.
  [[nodiscard]] std::string_view piece(int64_t id) const;
  [[nodiscard]] std::optional<int64_t> find(std::string_view piece) const;
  // Control tokens and the unknown token, which decode() leaves out unless they are to be shown.
  [[nodiscard]] bool is_special(int64_t id) const;

  // The tokens that begin a text and that end a text, a turn or a message, as far as this source names them (a GGUF,
  // and the file made from one, do; for a tokenizer.json they stand in other files: TokenizerFacts of pieces.h).
  [[nodiscard]] std::optional<int64_t> bos() const;
  [[nodiscard]] const std::vector<int64_t>& ends() const;
  // Whether encode() puts bos first when it adds special tokens.
  [[nodiscard]] bool adds_bos() const;

  [[nodiscard]] const TokenizerParts& parts() const { return *parts_; }

 private:
  std::shared_ptr<const TokenizerParts> parts_;
};

// Ids to text as they come, for a terminal: what push() returns never ends inside a UTF-8 character that later ids may
// complete, and the sum of all that is returned is what decode() gives.
class StreamDecoder {
 public:
  explicit StreamDecoder(Tokenizer tokenizer, const DecodeOptions& options = {});
  ~StreamDecoder();
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;
  StreamDecoder(const StreamDecoder&) = delete;
  StreamDecoder& operator=(const StreamDecoder&) = delete;
  // Errors: kInput (an id outside the vocabulary).
  [[nodiscard]] Result<std::string> push(int64_t id);
  // What is held back, whether or not it is a whole character; the next push starts a text as the first one did.
  [[nodiscard]] std::string finish();

 private:
  Tokenizer tokenizer_;
  DecodeOptions options_;
  std::unique_ptr<DecoderState> state_;
  std::string held_;
};

}  // namespace headrace
