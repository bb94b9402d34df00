#include "tokenizer/added_tokens.h"

#include <rapidcheck.h>

#include <algorithm>

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using Order = AddedTokens::Order;

std::vector<std::string> parts(const AddedTokens& tokens, std::string_view text, bool parse_special = true) {
  std::vector<std::string> out;
  for (const auto& part : tokens.split(text, parse_special)) {
    const auto spelt = std::string(text.substr(part.span.begin, part.span.end - part.span.begin));
    out.push_back(part.token < 0 ? spelt : fmt::format("{}:{}", part.token, spelt));
  }
  return out;
}

std::vector<AddedToken> some() {
  return {{.text = "<s>", .id = 1, .special = true},
          {.text = "<s><s>", .id = 2, .special = true},
          {.text = "a<", .id = 3},
          {.text = "  ", .id = 4}};
}

TEST(AddedTokens, LongestWinsOverFirst) {
  const AddedTokens tokens(some(), Order::kLongestFirst);
  EXPECT_THAT(parts(tokens, "x<s>y"), ElementsAre("x", "1:<s>", "y"));
  EXPECT_THAT(parts(tokens, "<s><s><s>"), ElementsAre("2:<s><s>", "1:<s>"));
  EXPECT_THAT(parts(tokens, "a<s>"), ElementsAre("a", "1:<s>"));  // longer than the "a<" before it
  EXPECT_THAT(parts(tokens, "a<s>", false), ElementsAre("3:a<", "s>"));
  EXPECT_THAT(parts(tokens, "   "), ElementsAre("4:  ", " "));
  EXPECT_THAT(parts(tokens, ""), ElementsAre());
}

TEST(AddedTokens, LeftmostWinsOverLongest) {
  const AddedTokens tokens(some(), Order::kLeftmostLongest);
  EXPECT_THAT(parts(tokens, "a<s>"), ElementsAre("3:a<", "s>"));
  EXPECT_THAT(parts(tokens, "<s><s><s>"), ElementsAre("2:<s><s>", "1:<s>"));
  EXPECT_THAT(parts(tokens, "<s>", false), ElementsAre("<s>"));
}

TEST(AddedTokens, StripsAndWantsWholeWords) {
  const AddedTokens tokens(
      {{.text = "mask", .id = 5, .lstrip = true, .rstrip = true}, {.text = "day", .id = 6, .single_word = true}},
      Order::kLeftmostLongest);
  EXPECT_THAT(parts(tokens, "a \u3000mask \nb"), ElementsAre("a", "5: \u3000mask \n", "b"));
  EXPECT_THAT(parts(tokens, "mask mask"), ElementsAre("5:mask ", "5:mask"));
  EXPECT_THAT(parts(tokens, "monday day. days"), ElementsAre("monday ", "6:day", ". days"));
}

// Against the definition: each token in turn, longest first, wherever it is still free.
TEST(AddedTokens, LongestFirstAgreesWithTheDefinition) {
  std::vector<AddedToken> list;
  for (const char* text : {"aa", "ab", "aaa", "ba", "abab", "b", "aaaaa", "bb"})
    list.push_back({.text = text, .id = static_cast<int64_t>(list.size()), .special = list.size() % 3 == 0});
  const AddedTokens tokens(list, Order::kLongestFirst);
  std::vector<AddedToken> sorted = list;
  std::ranges::stable_sort(sorted, [](const auto& a, const auto& b) { return a.text.size() > b.text.size(); });
  EXPECT_TRUE(rc::check([&] {
    const auto text = *rc::gen::container<std::string>(rc::gen::element('a', 'b', 'c'));
    const auto parse = *rc::gen::arbitrary<bool>();
    std::string owner(text.size(), '.');
    for (const AddedToken& token : sorted) {
      if (token.special && !parse) continue;
      for (size_t at = 0; at + token.text.size() <= text.size();) {
        const bool free = owner.substr(at, token.text.size()).find_first_not_of('.') == std::string::npos;
        const bool here = free && text.compare(at, token.text.size(), token.text) == 0;
        if (here) owner.replace(at, token.text.size(), token.text.size(), static_cast<char>('0' + token.id));
        at += here ? token.text.size() : 1;
      }
    }
    std::string ours(text.size(), '.');
    for (const auto& part : tokens.split(text, parse))
      if (part.token >= 0)
        ours.replace(part.span.begin, part.span.end - part.span.begin, part.span.end - part.span.begin,
                     static_cast<char>('0' + part.token));
    RC_ASSERT(ours == owner);
  }));
}

TEST(AddedTokens, RunsOfSpacesCostNoMore) {
  std::vector<AddedToken> runs;
  for (size_t length = 2; length < 32; ++length) runs.push_back({.text = std::string(length, ' '), .id = 1});
  const AddedTokens tokens(runs, Order::kLongestFirst);
  EXPECT_EQ(tokens.split(std::string(1'000'000, ' '), false).size(), 32259U);
}

TEST(AddedTokens, ManyOfThemCostNoMore) {
  std::vector<AddedToken> many;
  for (int i = 0; i < 5000; ++i) many.push_back({.text = fmt::format("<unused{}>", i), .id = i});
  const AddedTokens tokens(many, Order::kLongestFirst);
  std::string text;
  for (int i = 0; i < 100'000; ++i) text += "<unused7";
  EXPECT_EQ(tokens.split(text + "><unused4999>", true).size(), 3U);
}

}  // namespace
}  // namespace headrace
