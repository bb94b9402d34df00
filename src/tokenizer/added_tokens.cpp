#include "tokenizer/added_tokens.h"

#include <algorithm>
#include <utility>

#include "tokenizer/characters.h"

namespace headrace {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, Order order) : tokens_(std::move(tokens)), order_(order) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.text.empty(); });
  for (size_t i = 0; i < tokens_.size(); ++i) trie_.add(tokens_[i].text, static_cast<int32_t>(i));
  for (const AddedToken& token : tokens_)
    shorter_.push_back(longest_at(std::string_view(token.text).substr(0, token.text.size() - 1), 0));
}

int32_t AddedTokens::longest_at(std::string_view text, size_t at) const {
  int32_t longest = -1;
  uint32_t node = ByteTrie::kRoot;
  for (; at < text.size(); ++at) {
    node = trie_.next(node, text[at]);
    if (node == ByteTrie::kNone) break;
    if (const int32_t value = trie_.value(node); value >= 0) longest = value;
  }
  return longest;
}

namespace {

bool is_single_word(std::string_view text, Span span) {
  const bool before = span.begin > 0 && ends_with_word_character(text.substr(0, span.begin));
  const bool after = span.end < text.size() && starts_with_word_character(text.substr(span.end));
  return !before && !after;
}

}  // namespace

std::vector<AddedTokens::Match> AddedTokens::leftmost_longest(std::string_view text, bool parse_special) const {
  std::vector<Match> out;
  size_t done = 0;
  for (size_t at = 0; at < text.size();) {
    const int32_t longest = longest_at(text, at);
    if (longest < 0) {
      ++at;
      continue;
    }
    const auto index = static_cast<size_t>(longest);
    Match found{.span = {.begin = at, .end = at + tokens_[index].text.size()}, .token = index};
    at = found.span.end;
    const AddedToken& token = tokens_[found.token];
    if ((token.special && !parse_special) || (token.single_word && !is_single_word(text, found.span))) continue;
    if (token.lstrip) found.span.begin = std::max(done, white_space_start(text.substr(0, found.span.begin)));
    if (token.rstrip) found.span.end += white_space_length(text.substr(found.span.end));
    done = found.span.end;
    out.push_back(found);
  }
  return out;
}

// Every place starts with its longest token. Where that is taken by longer ones from its end on, the next shorter token
// of the place has its turn; where the place itself is taken, none has. So a run of spaces costs one look at each
// place, though 30 lengths of it are tokens.
std::vector<AddedTokens::Match> AddedTokens::longest_first(std::string_view text, bool parse_special) const {
  const auto wanted = [&](int32_t index) {
    while (index >= 0 && !parse_special && tokens_[static_cast<size_t>(index)].special)
      index = shorter_[static_cast<size_t>(index)];
    return index;
  };
  std::vector<std::vector<Match>> by_length;
  const auto offer = [&](size_t at, int32_t index) {
    if (index < 0) return;
    const size_t length = tokens_[static_cast<size_t>(index)].text.size();
    if (length >= by_length.size()) by_length.resize(length + 1);
    by_length[length].push_back({.span = {.begin = at, .end = at + length}, .token = static_cast<size_t>(index)});
  };
  for (size_t at = 0; at < text.size(); ++at) offer(at, wanted(longest_at(text, at)));
  std::vector<Match> out;
  if (by_length.empty()) return out;
  std::vector<bool> taken(text.size());
  for (size_t length = by_length.size(); length-- > 1;) {
    std::vector<Match> matches = std::move(by_length[length]);
    std::ranges::sort(matches, {}, [](const Match& match) { return std::pair(match.token, match.span.begin); });
    for (const Match& match : matches) {
      if (taken[match.span.begin]) continue;
      // What is taken is no shorter than this, so what lies across reaches the last byte.
      if (taken[match.span.end - 1]) {
        offer(match.span.begin, wanted(shorter_[match.token]));
        continue;
      }
      std::fill(taken.begin() + static_cast<std::ptrdiff_t>(match.span.begin),
                taken.begin() + static_cast<std::ptrdiff_t>(match.span.end), true);
      out.push_back(match);
    }
  }
  std::ranges::sort(out, {}, [](const Match& match) { return match.span.begin; });
  return out;
}

std::vector<AddedTokens::Part> AddedTokens::split(std::string_view text, bool parse_special) const {
  std::vector<Part> parts;
  if (text.empty()) return parts;
  if (tokens_.empty()) return {{.span = {.begin = 0, .end = text.size()}}};
  const auto matches =
      order_ == Order::kLeftmostLongest ? leftmost_longest(text, parse_special) : longest_first(text, parse_special);
  size_t done = 0;
  for (const Match& match : matches) {
    if (match.span.begin > done) parts.push_back({.span = {.begin = done, .end = match.span.begin}});
    parts.push_back({.span = match.span, .token = tokens_[match.token].id});
    done = match.span.end;
  }
  if (done < text.size()) parts.push_back({.span = {.begin = done, .end = text.size()}});
  return parts;
}

}  // namespace headrace
