// How the pieces of tokens become text again: steps over the spelling of one token after the other.
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace headrace {

struct ByteLevelStep {};     // GPT-2's alphabet to bytes; a piece with another character in it stays as it is
struct ByteFallbackStep {};  // `<0x0A>` to its byte
struct ReplaceStep {         // everywhere in the piece
  std::string from, to;
};
struct MetaspaceStep {  // to spaces; to nothing in the first token
  std::string replacement;
  bool strip_first{};
};
struct StripStep {  // up to so many of one character at both ends of every token
  std::string content;
  size_t start{}, stop{};
};
struct StripTextStep {  // up to so many at the start of the text
  std::string content;
  size_t start{};
};
struct JoinStep {};  // a space before every token but the first
using DecoderStep =
    std::variant<ByteLevelStep, ByteFallbackStep, ReplaceStep, MetaspaceStep, StripStep, StripTextStep, JoinStep>;

struct DecoderState {
  bool first = true;        // no token has been spelt yet
  size_t stripped = 0;      // characters taken off the start of the text
  bool text_begun = false;  // nothing more is taken off there
};

[[nodiscard]] std::string spell(const std::vector<DecoderStep>& steps, std::string_view piece, DecoderState& state);

}  // namespace headrace
