#include "tokenizer/tokenizer_file.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/testing.h"
#include "formats/gguf_testing.h"
#include "tokenizer/gguf_fields.h"
#include "tokenizer/gguf_file.h"

namespace headrace {
namespace {

using namespace headrace::testing;  // NOLINT(google-build-using-namespace)
using ::testing::ElementsAre;
using ::testing::HasSubstr;

GgufTokenizerFields some() {
  GgufTokenizerFields fields{.model = "llama", .pre = "default"};
  fields.pieces = {"<s>", "a\"\\\n", "\xFF\x80", "", "\u2581a"};
  fields.types = {PieceType::kControl, PieceType::kNormal, PieceType::kUserDefined, PieceType::kUnused,
                  PieceType::kByte};
  fields.scores = {0, -1.5F, 3.25e-8F, -1e30F, 0.1F};
  fields.merges = {"a b", "\xFF c"};
  fields.charsmap = std::string("\0\1\2\xFF", 4);
  fields.bos = 0;
  fields.eot = 4;
  fields.add_bos = false;
  fields.add_space_prefix = true;
  return fields;
}

TEST(TokenizerFile, RoundTrips) {
  ASSERT_OK_AND_ASSIGN(const GgufTokenizerFields back, parse_tokenizer_file(to_tokenizer_file(some()), "file"));
  EXPECT_EQ(back, some());
  const GgufTokenizerFields bare{.model = "gpt2", .pieces = {"a"}, .types = {PieceType::kNormal}};
  ASSERT_OK_AND_ASSIGN(const GgufTokenizerFields again, parse_tokenizer_file(to_tokenizer_file(bare), "file"));
  EXPECT_EQ(again, bare);
}

TEST(TokenizerFile, BadText) {
  const std::string good = to_tokenizer_file(some());
  const auto with = [&good](std::string_view from, std::string_view to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "not JSON"},
      {"[]", "not a JSON object"},
      {std::string(100000, '['), "nested deeper"},
      {with("\"version\": 1", "\"version\": 2"), "version 1"},
      {with("headrace.tokenizer", "other"), "not a file of format"},
      {with("\"llama\"", "3"), "model is not a string"},
      {with("\"a\\\"", "\"b\", \"a\\\""), "lists of one length"},
      {with("\"<s>\"", "7"), "pieces holds an item"},
      {with("[255, 128]", "[256]"), "pieces holds an item"},
      {with("[3,", "[7,"), "types holds an item"},
      {with("-1.5", "\"x\""), "scores holds an item"},
      {with("[0,-1.5", "[-1.5"), "'pieces' and 'scores' are not lists of one length"},
      {with("\"bos\": 0", "\"bos\": 5"), "bos is no token of 5 pieces"},
      {with("\"add_bos\": false", "\"add_bos\": 0"), "add_bos is neither true nor false"},
      {with("\"charsmap\": \"", "\"charsmap\": \"*"), "charsmap is not base64"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_THAT(parse_tokenizer_file(text, "file"), IsError(ErrorCode::kVocabulary, HasSubstr("file: "))) << message;
  for (const auto& [text, message] : cases)
    EXPECT_THAT(parse_tokenizer_file(text, "file"), IsError(ErrorCode::kVocabulary, HasSubstr(message)));
}

GgufSpec with_tokens(const std::string& kind, const std::vector<std::string>& pieces) {
  GgufSpec spec = tiny();
  spec.set(kv_string("tokenizer.ggml.model", kind));
  spec.set(kv_strings("tokenizer.ggml.tokens", pieces));
  return spec;
}

TEST(TokenizerFile, OfACheckpoint) {
  GgufSpec spec = with_tokens("gpt2", {"<s>", "\u0120a"});
  spec.set(kv_array("tokenizer.ggml.token_type", Gv::kI32, {3, 1}));
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_spec(spec));
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const auto file, tokenizer_file(checkpoint, warnings));
  ASSERT_TRUE(file.has_value());
  EXPECT_EQ(file->name, "vocabulary.json");
  ASSERT_OK_AND_ASSIGN(const Tokenizer tokenizer, parse_tokenizer(file->text, "file"));
  const std::vector<int64_t> ids = {0, 1};
  EXPECT_EQ(*tokenizer.decode(ids, {.show_special = true}), "<s> a");
  EXPECT_THAT(tokenizer.encode("a"), IsError(ErrorCode::kConfigMissing, HasSubstr("tokenizer.ggml.pre is absent")));
  EXPECT_TRUE(warnings.lines.empty());
}

TEST(TokenizerFile, UnknownKindIsAWarning) {
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_spec(with_tokens("rwkv", {"a"})));
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const auto file, tokenizer_file(checkpoint, warnings));
  EXPECT_FALSE(file.has_value());
  EXPECT_THAT(warnings.lines, ElementsAre(HasSubstr("kind 'rwkv'")));
}

TEST(TokenizerFile, NoTokens) {
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_spec(tiny()));
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const auto file, tokenizer_file(checkpoint, warnings));
  EXPECT_FALSE(file.has_value());
}

TEST(TokenizerFile, Contradictions) {
  Warnings warnings;
  GgufSpec spec = with_tokens("gpt2", {"a", "b"});
  spec.set(kv_array("tokenizer.ggml.token_type", Gv::kI32, {1}));
  ASSERT_OK_AND_ASSIGN(const Checkpoint lengths, open_spec(spec));
  EXPECT_THAT(tokenizer_file(lengths, warnings), IsError(ErrorCode::kConfigValue, HasSubstr("has 1 items")));
  spec.set(kv_array("tokenizer.ggml.token_type", Gv::kI32, {1, 9}));
  ASSERT_OK_AND_ASSIGN(const Checkpoint number, open_spec(spec));
  EXPECT_THAT(tokenizer_file(number, warnings), IsError(ErrorCode::kConfigValue, HasSubstr("token 1 has type 9")));
}

// What llama.cpp's detokenizer gives, token by token.
TEST(TokenizerFile, DecodesAsLlamaCppDoes) {
  std::ifstream file(HEADRACE_TESTDATA "/tokenizer/smollm2_detokenize.json");
  const auto golden = nlohmann::json::parse(file);
  GgufTokenizerFields fields{.model = golden["kind"]};
  fields.pieces.resize(49152);
  fields.types.resize(49152, PieceType::kNormal);
  for (const auto& row : golden["pieces"]) {
    fields.pieces[row[0].get<size_t>()] = row[1];
    fields.types[row[0].get<size_t>()] = static_cast<PieceType>(row[2].get<int>());
  }
  const Tokenizer tokenizer = make_gguf_tokenizer(fields);
  ASSERT_EQ(golden["strings"].size(), 79U);
  for (const auto& item : golden["strings"]) {
    ASSERT_OK_AND_ASSIGN(const std::string text, tokenizer.decode(item["ids"].get<std::vector<int64_t>>()));
    std::string hex;
    for (const char c : text) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    EXPECT_EQ(hex, item["hex"].get<std::string>());
  }
}

}  // namespace
}  // namespace headrace
