// Tokens that are looked for in a text before anything else is done to it: control tokens, user-defined ones.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tokenizer/byte_trie.h"
#include "tokenizer/regex.h"

namespace headrace {

struct AddedToken {
  std::string text;
  int64_t id{};
  bool special{};      // looked for only when special tokens are parsed
  bool single_word{};  // only between characters that are no word characters
  bool lstrip{};       // takes the white space before it in
  bool rstrip{};       // ... after it
};

class AddedTokens {
 public:
  // Who wins where two overlap. kLeftmostLongest: the first in the text, of those the longest; a special token that is
  // not parsed still covers what lies in it (Hugging Face). kLongestFirst: all places of the longest, then those of the
  // next; of equally long ones the lower id first (llama.cpp).
  enum class Order : uint8_t { kLeftmostLongest, kLongestFirst };
  struct Part {
    Span span;
    int64_t token = -1;  // -1: text
  };

  AddedTokens() = default;
  AddedTokens(std::vector<AddedToken> tokens, Order order);

  // The text in parts, none of them empty; an empty text has none.
  [[nodiscard]] std::vector<Part> split(std::string_view text, bool parse_special) const;
  [[nodiscard]] bool empty() const { return tokens_.empty(); }

 private:
  struct Match {
    Span span;
    size_t token{};  // index into tokens_
  };
  [[nodiscard]] std::vector<Match> leftmost_longest(std::string_view text, bool parse_special) const;
  [[nodiscard]] std::vector<Match> longest_first(std::string_view text, bool parse_special) const;

  // Index of the longest token that the text starts with from `at` on, -1 without.
  [[nodiscard]] int32_t longest_at(std::string_view text, size_t at) const;

  std::vector<AddedToken> tokens_;
  std::vector<int32_t> shorter_;  // by index: the longest other token that it starts with, -1 without
  ByteTrie trie_;                 // values are indices into tokens_
  Order order_{};
};

}  // namespace headrace
