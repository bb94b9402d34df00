#include "formats/names.h"

#include <gtest/gtest.h>

#include <string>

namespace headrace {
namespace {

TEST(Names, Keys) {
  EXPECT_TRUE(is_key("general.architecture"));
  EXPECT_TRUE(is_key("~!"));
  for (const char* bad : {"", "a b", "a\tb", "\x7F", "\xC3\xA4"}) EXPECT_FALSE(is_key(bad)) << bad;
}

TEST(Names, TensorNames) {
  for (const char* good : {"blk.0.attn_q.weight", "a b", "a\"b\\c", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80",
                           "\xED\x9F\xBF", "\xF4\x8F\xBF\xBF", "\xC2\xA0"})
    EXPECT_TRUE(is_tensor_name(good)) << good;
  for (const std::string bad : {"", "a\nb", "\x7F", "\xC2\x80", "\xFF", "\xC0\xAF", "\xE0\x80\xAF", "\xED\xA0\x80",
                                "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xE2", "\x80", "a\xC3", "\xC3z"})
    EXPECT_FALSE(is_tensor_name(bad)) << bad;
  EXPECT_FALSE(is_tensor_name(std::string("a\0", 2)));
}

}  // namespace
}  // namespace headrace
