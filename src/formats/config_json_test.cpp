#include "formats/config_json.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "formats/safetensors_testing.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;
using Metadata = std::map<std::string, MetaValue, std::less<>>;

Result<Metadata> flat(std::string_view text, std::string_view prefix = "") {
  Metadata out;
  HR_TRY_STATUS(flatten_config(text, "config.json", prefix, {}, out));
  return out;
}

TEST(ConfigJson, FlattensByDots) {
  ASSERT_OK_AND_ASSIGN(const Metadata m, flat(R"({"a":1,"b":{"c":{"d":"x"},"e":true},"f":{},"g":null,"h":-2.5})"));
  const Metadata want = {{"a", {int64_t{1}}},        {"b.c.d", {std::string("x")}}, {"b.e", {true}},
                         {"f", {std::string("{}")}}, {"g", {std::monostate()}},     {"h", {-2.5}}};
  EXPECT_EQ(m, want);
}

TEST(ConfigJson, LeavesOutDictionariesOfAnybodysWords) {
  ASSERT_OK_AND_ASSIGN(const Metadata m, flat(R"({"a":1,"id2label":{"0":"a cat"},"label2id":{"a cat, a dog":0},)"
                                              R"("transformers.js_config":{"kv_cache_dtype":{"q4f16":"float16"}}})"));
  EXPECT_EQ(m, (Metadata{{"a", {int64_t{1}}}}));
}

TEST(ConfigJson, NumbersKeepTheirKind) {
  ASSERT_OK_AND_ASSIGN(const Metadata m,
                       flat(R"({"a":9223372036854775807,"b":9223372036854775808,"c":-9223372036854775808,"d":1.0,)"
                            R"("e":1e3,"f":-0,"g":1e30,"h":18446744073709551616})"));
  EXPECT_EQ(m.at("a").value, MetaValue{int64_t{INT64_MAX}}.value);
  EXPECT_EQ(m.at("b").value, MetaValue{uint64_t{1} << 63}.value);
  EXPECT_EQ(m.at("c").value, MetaValue{int64_t{INT64_MIN}}.value);
  EXPECT_EQ(m.at("d").value, MetaValue{1.0}.value);
  EXPECT_EQ(m.at("e").value, MetaValue{1000.0}.value);
  EXPECT_EQ(m.at("f").value, MetaValue{int64_t{0}}.value);
  EXPECT_EQ(m.at("g").value, MetaValue{1e30}.value);
  EXPECT_EQ(m.at("h").value, MetaValue{0x1p64}.value);
  EXPECT_THAT(flat(R"({"a":1e999})"), IsError(ErrorCode::kConfigFile, HasSubstr("a number is out of range")));
}

TEST(ConfigJson, ListsHaveOneKind) {
  ASSERT_OK_AND_ASSIGN(
      const Metadata m,
      flat(
          R"({"ints":[1,-2],"large":[1,18446744073709551615],"mixed":[1,2.5],"bools":[true,false],"strings":["a","b"],)"
          R"("none":[],"nested":[[1],[2,3]],"objects":[{"a":1}],"odd":[1,"a"],"nulls":[null],"far":[-1,18446744073709551615]})"));
  EXPECT_EQ(m.at("ints").value, MetaValue{MetaArray(std::vector<int64_t>{1, -2})}.value);
  EXPECT_EQ(m.at("large").value, MetaValue{MetaArray(std::vector<uint64_t>{1, UINT64_MAX})}.value);
  EXPECT_EQ(m.at("mixed").value, MetaValue{MetaArray(std::vector<double>{1, 2.5})}.value);
  EXPECT_EQ(m.at("bools").value, MetaValue{MetaArray(std::vector<bool>{true, false})}.value);
  EXPECT_EQ(m.at("strings").value, MetaValue{MetaArray(std::vector<std::string>{"a", "b"})}.value);
  EXPECT_EQ(m.at("none").value, MetaValue{MetaArray(std::vector<int64_t>{})}.value);
  EXPECT_EQ(m.at("nested").value, MetaValue{std::string("[[1],[2,3]]")}.value);
  EXPECT_EQ(m.at("objects").value, MetaValue{std::string(R"([{"a":1}])")}.value);
  EXPECT_EQ(m.at("odd").value, MetaValue{std::string(R"([1,"a"])")}.value);
  EXPECT_EQ(m.at("nulls").value, MetaValue{std::string("[null]")}.value);
  EXPECT_EQ(m.at("far").value, MetaValue{std::string("[-1,18446744073709551615]")}.value);
}

TEST(ConfigJson, LongDumpsAreCutBetweenCharacters) {
  std::string text = R"({"a":[["x)";
  for (int i = 0; i < 5000; ++i) text += "\xC3\xA9";
  ASSERT_OK_AND_ASSIGN(const Metadata m, flat(text + R"("]]})"));
  const auto& dump = std::get<std::string>(m.at("a").value);
  EXPECT_EQ(dump.size(), 4096U + 3);  // [["x is four bytes: an even cut
  EXPECT_TRUE(dump.ends_with("\xC3\xA9..."));
  ASSERT_OK_AND_ASSIGN(const Metadata odd, flat(R"({"a":[["xx)" + text.substr(9) + R"("]]})"));
  EXPECT_EQ(std::get<std::string>(odd.at("a").value).size(), 4095U + 3);
}

TEST(ConfigJson, KeysThatCannotBeNamedAreRefused) {
  const std::pair<std::string_view, std::string_view> cases[] = {
      {R"({"a.b":1})", "config.json: the root: key \"a.b\" holds a dot"},
      {R"({"x":{"y":{"a.b":1}}})", "config.json: x.y: key \"a.b\" holds a dot"},
      {R"({"a b":1})", "key \"a b\" is empty or holds blanks"},
      {R"({"":1})", "key \"\" is empty"},
      {R"({"a\n":1})", "key \"a\\n\" is empty or holds"},
      {R"({"a":1,"a":2})", "key 'a' is repeated in one object"},
      {R"({"a":{"b":1},"a":{"c":2}})", "key 'a' is repeated in one object"},
      {R"({"generation_config":{"eos_token_id":1}})", "key 'generation_config' has the name of a file"},
      {R"({"tokenizer_config":1})", "key 'tokenizer_config' has the name of a file"},
      {"[]", "not a JSON object"},
      {"{", "not JSON"},
      {"", "not JSON"},
      {"{\"a\":1}\n// x", "not JSON"},
      {"{\"a\":NaN}", "not JSON"},
      {"{\"a\":Infinity}", "not JSON"},
      {"{\"a\":\"\xFF\"}", "not JSON"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_THAT(flat(text), IsError(ErrorCode::kConfigFile, HasSubstr(message))) << text;
  EXPECT_THAT(flat(std::string("{}\0x", 4)), IsError(ErrorCode::kConfigFile, HasSubstr("not JSON, byte 2")));
  std::string deep = "{\"a\":";
  for (int i = 0; i < 20; ++i) deep += "{\"a\":";
  EXPECT_THAT(flat(deep), IsError(ErrorCode::kConfigFile, HasSubstr("nested deeper than 16 levels")));
}

// A long name before many members would otherwise be stored with each of them.
TEST(ConfigJson, LongKeysCannotMultiply) {
  std::string text = "{\"" + std::string(100'000, 'k') + "\":{";
  for (int i = 0; i < 10'000; ++i) text += fmt::format("\"{}\":0,", i);
  text.back() = '}';
  EXPECT_THAT(flat(text + "}"),
              IsError(ErrorCode::kConfigFile, HasSubstr("more keys than a text of this size may hold")));
}

// Files beside config.json have a prefix; of a tokenizer's only what is no vocabulary is kept.
TEST(ConfigJson, ReadsTheFilesOfADirectory) {
  const ShardedDir dir;
  dir.write("config.json", R"({"eos_token_id":2})");
  dir.write("generation_config.json", R"({"eos_token_id":[2,7],"_from_model_config":true})");
  dir.write(
      "tokenizer_config.json",
      R"({"added_tokens_decoder":{"0":{"content":"a.b c","x":[[{}]]}},"add_bos_token":true,"chat_template":[{"a b":1}],)"
      R"("bos_token":{"content":"<s>","lstrip":false},"eos_token":null,"model_max_length":1e30})");
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const Checkpoint c, open_checkpoint(dir.path(), warnings));
  const Metadata want = {{"eos_token_id", {int64_t{2}}},
                         {"generation_config._from_model_config", {true}},
                         {"generation_config.eos_token_id", {MetaArray(std::vector<int64_t>{2, 7})}},
                         {"tokenizer_config.add_bos_token", {true}},
                         {"tokenizer_config.bos_token.content", {std::string("<s>")}},
                         {"tokenizer_config.bos_token.lstrip", {false}},
                         {"tokenizer_config.eos_token", {std::monostate()}}};
  EXPECT_EQ(c.metadata, want);
  dir.write("generation_config.json", "");
  EXPECT_THAT(open_checkpoint(dir.path(), warnings),
              IsError(ErrorCode::kConfigFile, HasSubstr("generation_config.json: not JSON: empty")));
  dir.remove("generation_config.json");
  dir.write("tokenizer_config.json", R"({"chat_template":)");
  EXPECT_THAT(open_checkpoint(dir.path(), warnings),
              IsError(ErrorCode::kConfigFile, HasSubstr("tokenizer_config.json: not JSON")));
  dir.write("tokenizer_config.json", R"({"add_bos_token":true,"add_bos_token":false})");
  EXPECT_THAT(open_checkpoint(dir.path(), warnings), IsError(ErrorCode::kConfigFile, HasSubstr("is repeated")));
}

}  // namespace
}  // namespace headrace::testing
