#include "tokenizer/hf_tokenizer.h"

#include <nlohmann/json.hpp>

#include "base/testing.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/hf_json.h"
#include "tokenizer/tokenizer_file.h"

namespace headrace {
namespace {

using ::headrace::testing::IsError;
using ::headrace::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Json = nlohmann::json;

Json with_type(std::string_view type) { return {{"type", type}}; }

Json byte_level() {
  Json vocabulary = Json::object();
  for (int byte = 0; byte < 256; ++byte) vocabulary[to_byte_alphabet(std::string(1, static_cast<char>(byte)))] = byte;
  vocabulary["ab"] = 256;
  vocabulary["\u0120ab"] = 257;
  const Json step = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", true}};
  return {{"version", "1.0"},
          {"added_tokens", {{{"id", 258}, {"content", "<s>"}, {"special", true}, {"normalized", false}}}},
          {"pre_tokenizer", step},
          {"decoder", step},
          {"model", {{"type", "BPE"}, {"vocab", vocabulary}, {"merges", {"a b", "\u0120 ab"}}}}};
}

Json unigram() {
  return {
      {"version", "1.0"},
      {"pre_tokenizer", {{"type", "Metaspace"}, {"replacement", "_"}, {"prepend_scheme", "always"}}},
      {"decoder", {{"type", "Metaspace"}, {"replacement", "_"}, {"add_prefix_space", true}}},
      {"model",
       {{"type", "Unigram"}, {"unk_id", 0}, {"vocab", Json::parse(R"([["<unk>",0],["_",-2],["a",-3],["_a",-4]])")}}}};
}

Json characters() {
  return {{"version", "1.0"},
          {"normalizer", {{"type", "Prepend"}, {"prepend", "_"}}},
          {"model",
           {{"type", "BPE"},
            {"unk_token", "?"},
            {"fuse_unk", true},
            {"vocab", {{"?", 0}, {"_", 1}, {"a", 2}, {"_a", 3}}},
            {"merges", Json::array({Json::array({"_", "a"})})}}}};
}

std::vector<std::string> pieces(const Json& json, std::string_view text, const EncodeOptions& options = {}) {
  const auto tokenizer = parse_tokenizer(json.dump(), "file");
  if (!tokenizer) return {tokenizer.error().text()};
  const auto ids = tokenizer->encode(text, options);
  if (!ids) return {ids.error().text()};
  std::vector<std::string> out;
  for (const int64_t id : *ids) out.emplace_back(tokenizer->piece(id));
  return out;
}

TEST(HfTokenizer, Models) {
  EXPECT_THAT(pieces(byte_level(), "ab ab<s>"), ElementsAre("ab", "\u0120ab", "<", "s", ">"));
  EXPECT_THAT(pieces(byte_level(), "ab<s>", {.parse_special = true}), ElementsAre("ab", "<s>"));
  EXPECT_THAT(pieces(unigram(), "a xy"), ElementsAre("_a", "_", "<unk>"));
  EXPECT_THAT(pieces(characters(), "axya"), ElementsAre("_a", "?", "a"));
  Json json = byte_level();
  json["model"]["ignore_merges"] = true;
  json["model"]["vocab"]["xyz"] = 259;
  EXPECT_THAT(pieces(json, "xyz"), ElementsAre("xyz"));
}

TEST(HfTokenizer, Decoders) {
  const auto decoded = [](Json json, const Json& decoder, const std::vector<int64_t>& ids) {
    json["decoder"] = decoder;
    const auto tokenizer = parse_tokenizer(json.dump(), "file");
    if (!tokenizer) return tokenizer.error().text();
    StreamDecoder stream(*tokenizer);
    std::string streamed;
    for (const int64_t id : ids) streamed += *stream.push(id);
    const auto whole = tokenizer->decode(ids);
    return whole && *whole == streamed + stream.finish() ? *whole : "stream and decode() differ";
  };
  EXPECT_EQ(decoded(byte_level(), byte_level()["decoder"], {258, 256, 257}), "ab ab");
  EXPECT_EQ(decoded(unigram(), unigram()["decoder"], {3, 1, 3}), "a  a");
  EXPECT_EQ(decoded(characters(), nullptr, {3, 2}), "_a a");
  const Json replace = {{"type", "Replace"}, {"pattern", {{"String", "_"}}}, {"content", " "}};
  const Json strip = {{"type", "Strip"}, {"content", " "}, {"start", 1}, {"stop", 0}};
  const auto sequence = [](const Json& steps) { return Json{{"type", "Sequence"}, {"decoders", steps}}; };
  EXPECT_EQ(decoded(characters(), sequence({replace, with_type("Fuse"), strip}), {3, 3}), "a a");
  EXPECT_EQ(decoded(characters(), sequence({replace, strip}), {3, 3}), "aa");
}

TEST(HfTokenizer, FramesAText) {
  Json json = byte_level();
  json["post_processor"] = {
      {"type", "TemplateProcessing"},
      {"single", {{{"SpecialToken", {{"id", "<s>"}, {"type_id", 0}}}}, {{"Sequence", {{"id", "A"}}}}}},
      {"pair", Json::array()},
      {"special_tokens", {{"<s>", {{"id", "<s>"}, {"ids", {258}}, {"tokens", {"<s>"}}}}}}};
  EXPECT_THAT(pieces(json, "ab"), ElementsAre("<s>", "ab"));
  EXPECT_THAT(pieces(json, "ab", {.add_special = false}), ElementsAre("ab"));
  json["post_processor"] = {{"type", "RobertaProcessing"}, {"sep", {"<s>", 258}}, {"cls", {"<s>", 258}}};
  EXPECT_THAT(pieces(json, "ab"), ElementsAre("<s>", "ab", "<s>"));
}

// transformers' Llama classes build the frame by the flags; what is written for an export needs no flags.
TEST(HfTokenizer, TokenizerConfigHasASay) {
  const HfFrame llama{.decides = true, .bos = "<s>", .eos = "<s>"};
  ASSERT_OK_AND_ASSIGN(const std::string text, frame_hf_tokenizer(byte_level().dump(), "file", llama));
  ASSERT_OK_AND_ASSIGN(const Tokenizer framed, parse_tokenizer(text, "file"));
  ASSERT_OK_AND_ASSIGN(const auto ids, framed.encode("ab ab"));
  EXPECT_THAT(ids, ElementsAre(258, 256, 257));
  ASSERT_OK_AND_ASSIGN(const std::string same,
                       frame_hf_tokenizer(byte_level().dump(), "file", {.decides = true, .add_bos = false}));
  EXPECT_EQ(same, byte_level().dump());
  ASSERT_OK_AND_ASSIGN(const Tokenizer torn,
                       parse_hf_tokenizer(byte_level().dump(), "file", {.add_bos = true, .bos = "<s>"}));
  EXPECT_THAT(torn.encode("a"),
              IsError(ErrorCode::kConfigValue, HasSubstr("add_bos_token is true, and the post_processor")));
  ASSERT_OK_AND_ASSIGN(const Tokenizer lost,
                       parse_hf_tokenizer(byte_level().dump(), "file", {.decides = true, .bos = "<x>"}));
  EXPECT_THAT(lost.encode("a"),
              IsError(ErrorCode::kConfigValue, HasSubstr("bos_token '<x>' is not in the vocabulary")));
}

TEST(HfTokenizer, WritesWhatItReads) {
  for (const Json& json : {byte_level(), unigram(), characters()}) {
    ASSERT_OK_AND_ASSIGN(const HfTokenizerJson once, parse_hf_tokenizer_json(json.dump(), "file"));
    ASSERT_OK_AND_ASSIGN(const HfTokenizerJson twice, parse_hf_tokenizer_json(to_text(once), "file"));
    EXPECT_EQ(once.root, twice.root);
    EXPECT_EQ(once.vocabulary, twice.vocabulary);
    EXPECT_EQ(once.merges, twice.merges);
  }
}

// Each change, made to a good file, is refused with these words.
struct Fault {
  Json file;
  std::string path;
  Json value;
  std::string message;
};
class HfFaults : public ::testing::TestWithParam<Fault> {};

TEST_P(HfFaults, AreRefusedByName) {
  Json json = GetParam().file;
  json[Json::json_pointer(GetParam().path)] = GetParam().value;
  const auto tokenizer = parse_tokenizer(json.dump(), "file");
  ASSERT_FALSE(tokenizer.has_value());
  EXPECT_THAT(tokenizer.error().message,
              ::testing::AllOf(::testing::StartsWith("file: "), HasSubstr(GetParam().message)));
}

INSTANTIATE_TEST_SUITE_P(
    All, HfFaults,
    ::testing::Values(
        Fault{byte_level(), "/novel", 1, "member 'novel'"}, Fault{byte_level(), "/model", 1, "model is not an object"},
        Fault{byte_level(), "/model/type", "WordPiece", "model: 'WordPiece' is not supported"},
        Fault{byte_level(), "/model/dropout", 0.1, "model.dropout: 0.1"},
        Fault{byte_level(), "/model/end_of_word_suffix", "</w>", "model.end_of_word_suffix: '</w>'"},
        Fault{byte_level(), "/model/unk_token", "nope", "model.unk_token: 'nope' is not in model.vocab"},
        Fault{byte_level(), "/model/byte_fallback", true, "'<0x00>' is not in model.vocab"},
        Fault{byte_level(), "/model/merges/0", "a z9", "'z9' is not in model.vocab"},
        Fault{byte_level(), "/model/merges/0", "a", "item 0 is no pair of pieces"},
        Fault{byte_level(), "/model/merges/0", {"a"}, "is no pair of pieces"},
        Fault{byte_level(), "/model/merges", {{"x", 1}}, "model.merges"},
        Fault{byte_level(), "/model/vocab/ab", "x", "model.vocab: item"},
        Fault{byte_level(), "/model/vocab/ab", 1.5, "expected an integer"},
        Fault{byte_level(), "/model/vocab/ab", -1, "expected an integer"},
        Fault{byte_level(), "/model/vocab/ab", 5000000, "expected an integer below"},
        Fault{byte_level(), "/model/vocab/ab", 257, "id 257 stands for"},
        Fault{byte_level(), "/model/vocab", Json::parse(R"([["a",0]])"),
              "pieces with scores, expected pieces with ids"},
        Fault{byte_level(), "/model/vocab", Json::object(), "no pieces"},
        Fault{byte_level(), "/added_tokens", 1, "added_tokens is not a list"},
        Fault{byte_level(), "/added_tokens/0", 1, "added_tokens[0]: not an object"},
        Fault{byte_level(), "/added_tokens/0/id", 3, "'<s>' has id 3, which stands for"},
        Fault{byte_level(), "/added_tokens/0/content", "ab", "'ab' has id 258, and 256 in model.vocab"},
        Fault{byte_level(), "/added_tokens/0/content", std::string(2000, 'x'), "content of 2000 bytes"},
        Fault{byte_level(), "/added_tokens/0/special", "yes", "special is string"},
        Fault{byte_level(), "/normalizer", with_type("Nmt"), "normalizer: 'Nmt' is not supported"},
        Fault{
            byte_level(), "/normalizer", {{"type", "Replace"}, {"pattern", 1}, {"content", ""}}, "pattern is neither"},
        Fault{byte_level(), "/normalizer", {{"type", "Precompiled"}, {"precompiled_charsmap", "*"}}, "not base64"},
        Fault{byte_level(), "/normalizer", {{"type", "Sequence"}, {"normalizers", 1}}, "normalizers is not a list"},
        Fault{byte_level(), "/normalizer", {{"type", "Strip"}, {"strip_left", true}}, "strip_right is null"},
        Fault{byte_level(), "/pre_tokenizer", with_type("BertPreTokenizer"), "pre_tokenizer: 'BertPreTokenizer'"},
        Fault{byte_level(),
              "/pre_tokenizer",
              {{"type", "Sequence"}, {"pretokenizers", {byte_level()["pre_tokenizer"], {{"type", "Digits"}}}}},
              "pre_tokenizer[1]: 'Digits' after 'ByteLevel'"},
        Fault{byte_level(),
              "/pre_tokenizer",
              {{"type", "Split"}, {"pattern", {{"Regex", "(a"}}}, {"behavior", "Isolated"}, {"invert", false}},
              "pattern '(a'"},
        Fault{byte_level(),
              "/pre_tokenizer",
              {{"type", "Split"}, {"pattern", {{"String", "a"}}}, {"behavior", "Odd"}, {"invert", false}},
              "behavior 'Odd'"},
        Fault{byte_level(), "/pre_tokenizer/novel", 1, "member 'novel' of 'ByteLevel'"},
        Fault{unigram(), "/pre_tokenizer/replacement", "ab", "replacement 'ab' is not one character"},
        Fault{unigram(), "/pre_tokenizer/prepend_scheme", "odd", "prepend_scheme 'odd'"},
        Fault{unigram(), "/pre_tokenizer", byte_level()["pre_tokenizer"], "'Unigram' with 'ByteLevel'"},
        Fault{unigram(), "/model/unk_id", 9, "unk_id is no integer from 0 to 3"},
        Fault{unigram(), "/model/unk_id", nullptr, "unk_id is no integer"},
        Fault{unigram(), "/model/vocab/1/1", "x", "model.vocab: item"},
        Fault{unigram(), "/model/vocab/1", {"_"}, "model.vocab: item"},
        Fault{unigram(), "/model/vocab/1/0", "a", "piece 'a' stands twice"},
        Fault{byte_level(), "/post_processor", with_type("Novel"), "post_processor: 'Novel'"},
        Fault{byte_level(),
              "/post_processor",
              {{"type", "TemplateProcessing"}, {"single", Json::array()}},
              "no Sequence"},
        Fault{byte_level(), "/post_processor", {{"type", "TemplateProcessing"}, {"single", {1}}}, "single[0]"},
        Fault{byte_level(),
              "/post_processor",
              {{"type", "TemplateProcessing"}, {"single", {{{"SpecialToken", {{"id", "<x>"}}}}}}},
              "special_tokens has no ids for"},
        Fault{byte_level(),
              "/post_processor",
              {{"type", "RobertaProcessing"}, {"sep", {"<s>", 999}}, {"cls", {"<s>", 1}}},
              "token 999 is outside"},
        Fault{byte_level(), "/decoder", with_type("WordPiece"), "decoder: 'WordPiece'"},
        Fault{byte_level(),
              "/decoder",
              {{"type", "Sequence"}, {"decoders", {{{"type", "Fuse"}}, {{"type", "ByteFallback"}}}}},
              "'ByteFallback' after 'Fuse'"}));

TEST(HfTokenizer, BadJson) {
  for (const auto& [text, message] : {std::pair{"", "not JSON"},
                                      {"[]", "not a JSON object"},
                                      {"{\"a\":1,\"a\":2}", "key 'a' is repeated"},
                                      {"{}x", "not JSON"}})
    EXPECT_THAT(parse_tokenizer(text, "file"), IsError(ErrorCode::kConfigFile, HasSubstr(message)));
  EXPECT_THAT(parse_tokenizer("{\"a\":" + std::string(100, '['), "file"),
              IsError(ErrorCode::kConfigFile, HasSubstr("nested deeper")));
}

}  // namespace
}  // namespace headrace
