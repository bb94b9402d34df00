#include "tokenizer/added_tokens.h"

#include <algorithm>
#include <map>

#include "tokenizer/characters.h"

namespace headrace {

AddedTokens::AddedTokens(std::vector<AddedToken> tokens, Order order) : tokens_(std::move(tokens)), order_(order) {
  std::erase_if(tokens_, [](const AddedToken& token) { return token.text.empty(); });
  for (size_t i = 0; i < tokens_.size(); ++i) trie_.add(tokens_[i].text, static_cast<int32_t>(i));
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
    Match found{.span = {.begin = at, .end = at}};
    uint32_t node = trie_.next(ByteTrie::kRoot, text[at]);
    for (size_t end = at + 1; node != ByteTrie::kNone; ++end) {
      if (const int32_t value = trie_.value(node); value >= 0)
        found = {.span = {.begin = at, .end = end}, .token = static_cast<size_t>(value)};
      if (end == text.size()) break;
      node = trie_.next(node, text[end]);
    }
    if (found.span.end == at) {
      ++at;
      continue;
    }
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

std::vector<AddedTokens::Match> AddedTokens::longest_first(std::string_view text, bool parse_special) const {
  std::vector<Match> found;
  for (size_t at = 0; at < text.size(); ++at) {
    uint32_t node = trie_.next(ByteTrie::kRoot, text[at]);
    for (size_t end = at + 1; node != ByteTrie::kNone; ++end) {
      const int32_t value = trie_.value(node);
      if (value >= 0 && (parse_special || !tokens_[static_cast<size_t>(value)].special))
        found.push_back({.span = {.begin = at, .end = end}, .token = static_cast<size_t>(value)});
      if (end == text.size()) break;
      node = trie_.next(node, text[end]);
    }
  }
  const auto length = [](const Match& match) { return match.span.end - match.span.begin; };
  std::ranges::stable_sort(found, [&](const Match& a, const Match& b) {
    return length(a) != length(b) ? length(a) > length(b) : a.token < b.token;
  });
  std::map<size_t, Match> taken;  // by begin; they do not overlap
  for (const Match& match : found) {
    const auto after = taken.lower_bound(match.span.begin);
    if (after != taken.end() && after->second.span.begin < match.span.end) continue;
    if (after != taken.begin() && std::prev(after)->second.span.end > match.span.begin) continue;
    taken.emplace_hint(after, match.span.begin, match);
  }
  std::vector<Match> out;
  for (const auto& [begin, match] : taken) out.push_back(match);
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
