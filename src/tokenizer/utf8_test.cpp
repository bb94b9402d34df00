#include "tokenizer/utf8.h"

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::Optional;

TEST(Utf8, ReadsCharactersOfEveryLength) {
  for (const auto& [text, code] : {std::pair<std::string_view, char32_t>{"a", U'a'},
                                   {"\u00e9", U'\u00e9'},
                                   {"\u2581x", U'\u2581'},
                                   {"\U0001f600", U'\U0001f600'}}) {
    const auto character = first_character(text);
    ASSERT_TRUE(character.has_value()) << text;
    EXPECT_EQ(character->code, code);
    std::string back;
    append_utf8(back, code);
    EXPECT_EQ(text.substr(0, character->length), back);
    EXPECT_EQ(utf8_length(text.front()), back.size());
  }
}

// Unicode 15, table 3-7 and its neighbours: overlong forms, surrogates, beyond U+10FFFF, cut and stray bytes.
TEST(Utf8, RefusesWhatUnicodeDoes) {
  for (const std::string_view bad :
       {"", "\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80",
        "\xF5\x80\x80\x80", "\xFF", "\xC3", "\xE2\x82", "\xE2\x82z"}) {
    EXPECT_FALSE(first_character(bad).has_value()) << bad;
    EXPECT_EQ(is_utf8(bad), bad.empty());
  }
  EXPECT_TRUE(is_utf8("plain \u00e9\u2581\U0001f600"));
}

TEST(Utf8, ReplacesBytesOneByOne) {
  EXPECT_EQ(with_replacements("a\xE2\x82z\xFF"), "a\uFFFD\uFFFDz\uFFFD");
  EXPECT_EQ(with_replacements("\u00e9"), "\u00e9");
}

TEST(Utf8, KnowsAnIncompleteTail) {
  const std::string text = "a\u00e9\u2581\U0001f600";
  for (size_t size = 0; size <= text.size(); ++size) {
    const std::string_view cut = std::string_view(text).substr(0, size);
    EXPECT_TRUE(is_utf8(cut.substr(0, cut.size() - incomplete_tail(cut)))) << size;
  }
  EXPECT_EQ(incomplete_tail("\xF0\x9F\x98"), 3U);
  // No byte that follows can make a character of these.
  EXPECT_EQ(incomplete_tail("\xED\xA0"), 0U);
  EXPECT_EQ(incomplete_tail("\x80\x80\x80"), 0U);
  EXPECT_EQ(incomplete_tail("\xFF"), 0U);
}

}  // namespace
}  // namespace headrace
