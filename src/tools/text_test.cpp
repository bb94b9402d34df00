#include "tools/text.h"

#include <gtest/gtest.h>

namespace headrace::tools {
namespace {

TEST(Printable, ControlsAndBrokenUtf8AreEscaped) {
  EXPECT_EQ(printable("blk.0.\xC3\xA9"), "blk.0.\xC3\xA9");
  EXPECT_EQ(printable("a\nb\tc\x1B[2J\x7F"), "a\\nb\\tc\\x1b[2J\\x7f");
  EXPECT_EQ(printable("a\xC2\x9B"
                      "2J\xC2\xA0"),
            "a\\xc2\\x9b"
            "2J\xC2\xA0");  // CSI of C1; a blank that stays
  EXPECT_EQ(printable("\xE2\x80\xAE\xE2\x80\xA8\xE2\x82\xAC"),
            "\\xe2\\x80\\xae\\xe2\\x80\\xa8\xE2\x82\xAC");  // the euro stays
  EXPECT_EQ(printable("\xFF\xC3"), "\\xff\\xc3");
  EXPECT_EQ(printable("\xE0\x80\x80"), "\\xe0\\x80\\x80");  // overlong
  EXPECT_EQ(printable("\xED\xA0\x80"), "\\xed\\xa0\\x80");  // surrogate
  EXPECT_EQ(printable("\xF4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80");
}

TEST(InQuotes, QuotesAndBackslashes) { EXPECT_EQ(in_quotes(" \"a\\\n"), "\" \\\"a\\\\\\n\""); }

TEST(AsUtf8, ReplacesWhatIsNot) {
  EXPECT_EQ(as_utf8("a\xE2\x82\xAC"), "a\xE2\x82\xAC");
  EXPECT_EQ(as_utf8("\xE2\x82"), "\xEF\xBF\xBD\xEF\xBF\xBD");
}

TEST(BytesText, ThreeDigits) {
  EXPECT_EQ(bytes_text(0), "0 B");
  EXPECT_EQ(bytes_text(999), "999 B");
  EXPECT_EQ(bytes_text(1000), "1.00 kB");
  EXPECT_EQ(bytes_text(98'207'000), "98.2 MB");
  EXPECT_EQ(bytes_text(538'091'520), "538 MB");
  EXPECT_EQ(bytes_text(999'600'000), "1.00 GB");
  EXPECT_EQ(bytes_text(~uint64_t{0}), "18447 PB");
}

TEST(CountText, HasNoTrailingSpace) {
  EXPECT_EQ(count_text(7), "7");
  EXPECT_EQ(count_text(134'515'008), "135 M");
}

TEST(DurationText, SecondsThenClock) {
  EXPECT_EQ(duration_text(0.1234), "0.12 s");
  EXPECT_EQ(duration_text(75), "1:15");
  EXPECT_EQ(duration_text(4000), "1:06:40");
}

TEST(Columns, PadsAllButTheLast) {
  EXPECT_EQ(columns({{"a", "1", "x"}, {"b\xC3\xA9", "22", "y"}}, "  ", {1}), "  a    1  x\n  b\xC3\xA9  22  y\n");
  EXPECT_EQ(columns({}, "  "), "");
}

}  // namespace
}  // namespace headrace::tools
