#include "tokenizer/regex.h"

#include "base/testing.h"

namespace headrace {
namespace {

using ::headrace::testing::IsError;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> matches(std::string_view pattern, std::string_view text) {
  auto regex = Regex::compile(pattern, "test");
  if (!regex) return {regex.error().text()};
  Matcher matcher(*regex);
  std::vector<std::string> out;
  for (size_t from = 0; from <= text.size();) {
    auto found = matcher.find(text, from);
    if (!found) return {found.error().text()};
    if (!*found) break;
    const auto [begin, end] = **found;
    out.emplace_back(text.substr(begin, end - begin));
    from = end > begin ? end : end + 1;
  }
  return out;
}

TEST(Regex, HasUnicodeClassesAndLookAhead) {
  EXPECT_THAT(matches(R"(\p{L}+|\p{N})", "caf\u00e9 4\u00b2"), ElementsAre("caf\u00e9", "4", "\u00b2"));
  EXPECT_THAT(matches(R"(\s+(?!\S)|\s+)", "a   b "), ElementsAre("  ", " ", " "));
  EXPECT_THAT(matches(R"((?i:'s|'re))", "'S 'Re"), ElementsAre("'S", "'Re"));
  EXPECT_THAT(matches(R"([^\r\n\p{L}]?\p{L}++)", "-ab\ncd"), ElementsAre("-ab", "cd"));
  EXPECT_THAT(matches(R"(\x{2581}|\x41)", "A\u2581"), ElementsAre("A", "\u2581"));
}

// Where PCRE2 alone would differ: U+180E is in its \h, and a script's name takes in the script's extensions.
TEST(Regex, ReadsClassesAsUnicodeDoes) {
  EXPECT_THAT(matches(R"(\s)", "\u180e\u0085\u3000"), ElementsAre("\u0085", "\u3000"));
  EXPECT_THAT(matches(R"(\S)", "\u180e\u0085"), ElementsAre("\u180e"));
  EXPECT_THAT(matches(R"([\s])", "\u180e\u2003"), ElementsAre("\u2003"));
  EXPECT_THAT(matches(R"(\w+)", "a_\u0301\u203f-b"), ElementsAre("a_\u0301\u203f", "b"));
  EXPECT_THAT(matches(R"(\b)", "ab c").size(), 4U);
  EXPECT_THAT(matches(R"(\p{Han})", "\u4e00\u3001"), ElementsAre("\u4e00"));
  EXPECT_THAT(matches(R"(\P{L}|\p{^N})", "1a"), ElementsAre("1", "a"));
  EXPECT_THAT(matches(R"(a$)", "a\na"), ElementsAre("a", "a"));
}

TEST(Regex, RefusesWhatItCannotSpell) {
  for (const auto& [pattern, what] : {std::pair{R"([a[bc]])", "a class inside a class"},
                                      {R"([\p{L}&&[^a]])", "an intersection"},
                                      {R"(\h)", "\\h"},
                                      {R"(\R)", "\\R"},
                                      {R"((a)\1)", "a reference"},
                                      {R"(a{,3})", "a repetition"},
                                      {R"((?<name>a))", "a group"},
                                      {R"((*UTF)a)", "a verb"},
                                      {R"([])", "an empty class"},
                                      {R"(a\)", "a backslash"},
                                      {R"(\p{L)", "without an end"},
                                      {R"(\pL)", "without braces"},
                                      {R"([\b])", "\\b inside"},
                                      {R"([\W])", "\\W inside"},
                                      {R"(\x{41)", "without an end"},
                                      {R"(\p{Nothing})", "unknown property"},
                                      {R"((a)", "missing"}})
    EXPECT_THAT(Regex::compile(pattern, "place"),
                IsError(ErrorCode::kConfigUnsupported, ::testing::AllOf(HasSubstr("place: pattern"), HasSubstr(what))))
        << pattern;
}

TEST(Regex, GivesUpRatherThanRunForever) {
  const std::string text(60, 'a');
  EXPECT_THAT(matches(R"((a|aa)+b|(?:(?:a*)*)*c)", text), ElementsAre(HasSubstr("gives up")));
}

TEST(Regex, TakesLongMatches) {
  const std::string text(1'000'000, 'a');
  EXPECT_EQ(matches(R"((?:(?=\p{L})[^A-Z])+)", text).front().size(), text.size());
  EXPECT_EQ(matches(R"(\s*[\r\n]+|a+)", text).front().size(), text.size());
}

}  // namespace
}  // namespace headrace
