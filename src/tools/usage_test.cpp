#include "tools/usage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::tools {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <class F>
std::string usage_message(F f) {
  try {
    static_cast<void>(f());
  } catch (const UsageError& e) {
    return e.what();
  }
  return "no usage error";
}

TEST(ParseSize, Units) {
  EXPECT_EQ(parse_size("-x", "1"), 1U);
  EXPECT_EQ(parse_size("-x", "512MiB"), uint64_t{512} << 20U);
  EXPECT_EQ(parse_size("-x", "512 mib"), uint64_t{512} << 20U);
  EXPECT_EQ(parse_size("-x", "2G"), uint64_t{2} << 30U);
  EXPECT_EQ(parse_size("-x", "500MB"), 500'000'000U);
  EXPECT_EQ(parse_size("-x", "1.5k"), 1536U);
  EXPECT_EQ(parse_size("-x", "3TB"), 3'000'000'000'000U);
}

TEST(ParseSize, Refusals) {
  for (const std::string text : {"", "MiB", "12Q", "1e9", "0x10", "inf", "nan", "1,5G", "12 M iB", "--"})
    EXPECT_THAT(usage_message([&] { return parse_size("--max-memory", text); }),
                HasSubstr("--max-memory: '" + text + "' is not a size; write a number and a unit"))
        << text;
  for (const std::string text : {"0", "-1", "0.2", "9223372036854775808", "99999999T", "-5G"})
    EXPECT_THAT(usage_message([&] { return parse_size("-x", text); }), HasSubstr("is out of range")) << text;
}

TEST(ParseInteger, RangeAndForm) {
  EXPECT_EQ(parse_integer("--seq", "7", 1, 9), 7);
  EXPECT_EQ(usage_message([] { return parse_integer("--seq", "0", 1, 9); }),
            "--seq: 0 is out of range, expected 1 to 9");
  for (const std::string text : {"", "x", "1x", " 1", "1.0", "+1", "1\n"})
    EXPECT_THAT(usage_message([&] { return parse_integer("--seq", text, 1, 9); }), HasSubstr("is not a whole number"))
        << text;
  EXPECT_THAT(usage_message([] { return parse_integer("--seq", "99999999999999999999", 1, 9); }),
              HasSubstr("is out of range"));
}

TEST(ParseList, NoEmptyItems) {
  EXPECT_THAT(parse_list("--target", "iree, xla"), ElementsAre("iree", "xla"));
  for (const std::string text : {"", ",", "a,", "a,,b"})
    EXPECT_THAT(usage_message([&] { return parse_list("--target", text); }), HasSubstr("has an empty item")) << text;
}

TEST(ParseTokens, Forms) {
  EXPECT_THAT(parse_tokens("504, 3575,-1"), ElementsAre(504, 3575, -1));
  EXPECT_THAT(parse_tokens(" "), ElementsAre());
  EXPECT_THAT(usage_message([] { return parse_tokens("1,,2"); }), HasSubstr("item 2 is empty"));
  EXPECT_THAT(usage_message([] { return parse_tokens("1,two"); }), HasSubstr("'two' is not a whole number"));
}

}  // namespace
}  // namespace headrace::tools
