#include "formats/meta.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/testing.h"
#include "formats/gguf_testing.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Optional;

Checkpoint with(std::vector<GgufKv> kvs) {
  auto checkpoint = open_spec({.kvs = std::move(kvs)});
  EXPECT_OK(checkpoint);
  return *std::move(checkpoint);
}

TEST(Meta, AbsentKeysAreEmpty) {
  const Checkpoint c = with({});
  EXPECT_EQ(meta_int(c, "k").value(), std::nullopt);
  EXPECT_EQ(meta_float(c, "k").value(), std::nullopt);
  EXPECT_EQ(meta_bool(c, "k").value(), std::nullopt);
  EXPECT_EQ(meta_string(c, "k").value(), std::nullopt);
  EXPECT_EQ(meta_int_array(c, "k").value(), std::nullopt);
  EXPECT_EQ(meta_float_array(c, "k").value(), std::nullopt);
  EXPECT_EQ(meta_bool_array(c, "k").value(), std::nullopt);
  EXPECT_EQ(meta_string_array(c, "k").value(), nullptr);
  EXPECT_EQ(meta_int_each(c, "k", 3).value(), std::nullopt);
  EXPECT_FALSE(meta_is_array(c, "k"));
  EXPECT_EQ(meta_type_name(c, "k"), "absent");
}

TEST(Meta, IntegersOfAnyWidthAndWholeFloats) {
  const Checkpoint c = with({kv_u32("u32", 0xFFFFFFFF), kv_i32("i32", -5), kv_u64("u64", (uint64_t{1} << 32) + 2),
                             kv_f32("whole", 32.F), kv_f32("part", 32.5F), kv_u64("big", uint64_t{1} << 63),
                             kv_f64("inf", std::numeric_limits<double>::infinity()), kv_f64("nan", std::nan("")),
                             kv_f64("2_63", 0x1p63), kv_string("text", "32"), kv_bool("yes", true)});
  EXPECT_EQ(meta_int(c, "u32").value(), 4294967295);
  EXPECT_EQ(meta_int(c, "i32").value(), -5);
  EXPECT_EQ(meta_int(c, "u64").value(), 4294967298);  // A18: a cast to 32 bits would read 2
  EXPECT_EQ(meta_int(c, "whole").value(), 32);
  EXPECT_THAT(meta_int(c, "part"), IsError(ErrorCode::kConfigValue, "key 'part' is 32.5 (float), expected an integer"));
  EXPECT_THAT(meta_int(c, "big"),
              IsError(ErrorCode::kConfigValue, HasSubstr("9223372036854775808 (unsigned integer)")));
  for (const char* key : {"inf", "nan", "2_63"})
    EXPECT_THAT(meta_int(c, key), IsError(ErrorCode::kConfigValue, HasSubstr(key)));
  EXPECT_THAT(meta_int(c, "text"), IsError(ErrorCode::kConfigValue, HasSubstr("key 'text' is \"32\" (string)")));
  EXPECT_THAT(meta_int(c, "yes"), IsError(ErrorCode::kConfigValue, HasSubstr("true (bool), expected an integer")));
}

// D07, D29: other numeric types are read, strings are not.
TEST(Meta, FloatsFromAnyExactNumber) {
  const Checkpoint c =
      with({kv_f32("f32", 1e-6F), kv_f64("f64", 0.1), kv_u32("u32", 10000), kv_i32("i32", -1),
            kv_u64("inexact", (uint64_t{1} << 53) + 1), kv_u64("top", UINT64_MAX), kv_string("text", "1.0")});
  EXPECT_EQ(meta_float(c, "f32").value(), static_cast<double>(1e-6F));
  EXPECT_EQ(meta_float(c, "f64").value(), 0.1);
  EXPECT_EQ(meta_float(c, "u32").value(), 10000.0);
  EXPECT_EQ(meta_float(c, "i32").value(), -1.0);
  for (const char* key : {"inexact", "top", "text"})
    EXPECT_THAT(meta_float(c, key), IsError(ErrorCode::kConfigValue, HasSubstr("expected a number")));
}

TEST(Meta, BoolsAndStrings) {
  const Checkpoint c = with({kv_bool("yes", true), kv_u32("one", 1), kv_string("text", "abc")});
  EXPECT_EQ(meta_bool(c, "yes").value(), true);
  EXPECT_THAT(meta_bool(c, "one"),
              IsError(ErrorCode::kConfigValue, HasSubstr("1 (unsigned integer), expected a bool")));
  EXPECT_EQ(meta_string(c, "text").value(), "abc");
  EXPECT_THAT(meta_string(c, "yes"), IsError(ErrorCode::kConfigValue, HasSubstr("expected a string")));
}

// A15: the item type is read, not assumed.
TEST(Meta, ArraysOfAnyNumericItem_A15) {
  const Checkpoint c =
      with({kv_array("scores", Gv::kU8, {1, 2, 255}), kv_array("kinds", Gv::kI8, {-1, 3}),
            kv_array("half", Gv::kF32, {0.5}), kv_strings("words", {"a", "b"}), kv_array("empty", Gv::kF32, {})});
  EXPECT_THAT(meta_float_array(c, "scores").value(), Optional(std::vector<double>{1, 2, 255}));
  EXPECT_THAT(meta_int_array(c, "scores").value(), Optional(std::vector<int64_t>{1, 2, 255}));
  EXPECT_THAT(meta_int_array(c, "kinds").value(), Optional(std::vector<int64_t>{-1, 3}));
  EXPECT_THAT(
      meta_int_array(c, "half"),
      IsError(ErrorCode::kConfigValue, "key 'half' is [0.5] (array of 1 float), expected an array of integers"));
  EXPECT_THAT(meta_int_array(c, "words"), IsError(ErrorCode::kConfigValue, HasSubstr("array of 2 strings")));
  EXPECT_THAT(meta_string_array(c, "scores"),
              IsError(ErrorCode::kConfigValue, HasSubstr("expected an array of strings")));
  EXPECT_THAT(*meta_string_array(c, "words").value(), ::testing::ElementsAre("a", "b"));
  EXPECT_TRUE(meta_string_array(c, "empty").value()->empty());
  EXPECT_THAT(meta_int_array(c, "empty").value(), Optional(std::vector<int64_t>{}));
}

// A16: a period, or one flag for each layer.
TEST(Meta, BoolArrays_A16) {
  const Checkpoint c = with({kv_array("flags", Gv::kBool, {1, 1, 0}), kv_u32("period", 6)});
  EXPECT_THAT(meta_bool_array(c, "flags").value(), Optional(std::vector<bool>{true, true, false}));
  EXPECT_TRUE(meta_is_array(c, "flags"));
  EXPECT_FALSE(meta_is_array(c, "period"));
  EXPECT_THAT(meta_bool_array(c, "period"), IsError(ErrorCode::kConfigValue, HasSubstr("expected an array of bools")));
  EXPECT_THAT(meta_int_array(c, "flags"), IsError(ErrorCode::kConfigValue, HasSubstr("array of 3 bools")));
}

TEST(Meta, OneNumberOrOneForEachLayer_A17) {
  const std::string key = "llama.attention.head_count_kv";
  const std::vector<int64_t> both = {2, 2};
  for (const GgufKv& kv : {kv_u32(key, 2), kv_i32(key, 2), kv_u64(key, 2), kv_array(key, Gv::kU32, {2, 2}),
                           kv_array(key, Gv::kI32, {2, 2})})
    EXPECT_THAT(meta_int_each(with({kv}), key, 2).value(), Optional(both));
  EXPECT_THAT(meta_int_each(with({kv_array(key, Gv::kU32, {2, 4})}), key, 2).value(),
              Optional(std::vector<int64_t>{2, 4}));
  for (const size_t items : {1U, 3U})
    EXPECT_THAT(meta_int_each(with({kv_array(key, Gv::kU32, std::vector<double>(items, 2))}), key, 2),
                IsError(ErrorCode::kConfigValue, HasSubstr(fmt::format("an array of {}, expected 2 items", items))));
  EXPECT_THAT(meta_int_each(with({kv_strings(key, {"2", "2"})}), key, 2),
              IsError(ErrorCode::kConfigValue, HasSubstr("expected an array of integers")));
}

TEST(Meta, DescribeIsShortAndOneLine) {
  const Checkpoint c =
      with({kv_f32("eps", 1e-5F), kv_f64("tenth", 0.1), kv_string("lines", "a\nb"),
            kv_string("long", std::string(100, 'x')), kv_array("many", Gv::kU32, std::vector<double>(9, 7)),
            kv_bool("yes", true), kv_array("flags", Gv::kBool, {1, 0})});
  const auto shown = [&](const char* key) { return describe(c.metadata.find(key)->second); };
  EXPECT_EQ(shown("eps"), "1e-05");
  EXPECT_EQ(shown("tenth"), "0.1");
  EXPECT_EQ(shown("lines"), R"("a\nb")");
  EXPECT_EQ(shown("long"), "\"" + std::string(60, 'x') + "\"... (100 bytes)");
  EXPECT_EQ(shown("many"), "[7, 7, 7, 7, 7, 7, 7, 7, ...] (9 items)");
  EXPECT_EQ(shown("yes"), "true");
  EXPECT_EQ(shown("flags"), "[true, false]");
}

// The values that gguf-py wrote, of every type.
TEST(Meta, ValuesOfTheReferenceFile) {
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const Checkpoint c,
                       open_checkpoint(std::string(HEADRACE_TESTDATA) + "/formats/reference.gguf", warnings));
  const std::pair<const char*, const char*> want[] = {{"u8", "200"},
                                                      {"i8", "-3"},
                                                      {"u16", "60000"},
                                                      {"i16", "-300"},
                                                      {"u32", "2147483648"},
                                                      {"i32", "-70000"},
                                                      {"u64", "9223372036854775808"},
                                                      {"i64", "-4611686018427387904"},
                                                      {"f32", "1e-06"},
                                                      {"f64", "0.1"},
                                                      {"yes", "true"},
                                                      {"text",
                                                       "\"gr\xC3\xBC\xC3\x9F"
                                                       "e\""},
                                                      {"list", "[1, 2, 3]"},
                                                      {"words", R"(["a", "bc", ""])"},
                                                      {"reals", "[0.5, -1.5]"},
                                                      {"flags", "[true, false]"}};
  for (const auto& [key, value] : want)
    EXPECT_EQ(describe(c.metadata.find("test." + std::string(key))->second), value) << key;
}

}  // namespace
}  // namespace headrace::testing
