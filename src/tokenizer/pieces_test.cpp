#include "tokenizer/pieces.h"

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/testing.h"
#include "formats/gguf_testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using testing::GgufSpec;
using testing::Gv;
using ::testing::HasSubstr;
using testing::IsError;
using testing::kv_array;
using testing::kv_strings;
using testing::kv_u32;
using testing::open_spec;
using testing::tiny;

constexpr auto kNormal = PieceType::kNormal;

GgufSpec with_tokens(const std::string& kind, const std::vector<std::string>& pieces) {
  GgufSpec spec = tiny();
  spec.set(testing::kv_string("tokenizer.ggml.model", kind));
  spec.set(kv_strings("tokenizer.ggml.tokens", pieces));
  return spec;
}

Vocabulary one(const std::string& kind, const std::string& piece, PieceType type = kNormal) {
  return {.kind = kind, .pieces = {piece}, .types = {type}};
}

TEST(PieceBytes, ByteLevelCoversEveryByteOnce) {
  // The alphabet in byte order: the inverse of what decoding must give.
  std::string all;
  int next = 0x100;
  for (int b = 0; b < 256; ++b) {
    const bool itself = (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xFF && b != 0xAD);
    const int c = itself ? b : next++;
    if (c < 0x80) {
      all += static_cast<char>(c);
    } else {
      all += static_cast<char>(0xC0 | (c >> 6));
      all += static_cast<char>(0x80 | (c & 0x3F));
    }
  }
  const std::string bytes = piece_bytes(one("gpt2", all), 0);
  ASSERT_EQ(bytes.size(), 256U);
  for (size_t b = 0; b < 256; ++b) EXPECT_EQ(static_cast<unsigned char>(bytes[b]), b);
}

TEST(PieceBytes, CharactersOutsideTheAlphabetStay) {
  EXPECT_EQ(piece_bytes(one("gpt2", "\xE4\xB8\xAD a"), 0), "\xE4\xB8\xAD a");
  EXPECT_EQ(piece_bytes(one("gpt2", "\xC4"), 0), "\xC4");          // a cut sequence
  EXPECT_EQ(piece_bytes(one("gpt2", "\xC5\x84"), 0), "\xC5\x84");  // U+0144: one past the alphabet
}

TEST(PieceBytes, SentencePiece) {
  EXPECT_EQ(piece_bytes(one("llama", "\xE2\x96\x81the\xE2\x96\x81"), 0), " the ");
  EXPECT_EQ(piece_bytes(one("llama", "<0x0A>", PieceType::kByte), 0), "\n");
  EXPECT_EQ(piece_bytes(one("llama", "<0xfF>", PieceType::kByte), 0), "\xFF");
  EXPECT_EQ(piece_bytes(one("llama", "<0xG0>", PieceType::kByte), 0), "<0xG0>");
  EXPECT_EQ(piece_bytes(one("llama", "<0x0A>"), 0), "<0x0A>");  // a normal piece that looks like a byte
}

TEST(PieceBytes, OtherTypesStandForTheirSpelling) {
  for (const auto type : {PieceType::kControl, PieceType::kUserDefined, PieceType::kUnknown, PieceType::kUnused})
    EXPECT_EQ(piece_bytes(one("gpt2", "<|\xC4\xA0|>", type), 0), "<|\xC4\xA0|>");
}

TEST(PieceBytes, AgreesWithLlamaCpp) {
  std::ifstream file(HEADRACE_TESTDATA "/tokenizer/smollm2_detokenize.json");
  const auto golden = nlohmann::json::parse(file);
  Vocabulary vocabulary{.kind = golden["kind"], .pieces = {}, .types = {}};
  vocabulary.pieces.resize(49152);
  vocabulary.types.resize(49152, kNormal);
  for (const auto& row : golden["pieces"]) {
    vocabulary.pieces[row[0].get<size_t>()] = row[1];
    vocabulary.types[row[0].get<size_t>()] = static_cast<PieceType>(row[2].get<int>());
  }
  ASSERT_EQ(golden["strings"].size(), 79U);
  for (const auto& item : golden["strings"]) {
    std::string hex;
    for (const auto& id : item["ids"])
      for (const char c : piece_bytes(vocabulary, id)) hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    EXPECT_EQ(hex, item["hex"].get<std::string>());
  }
}

TEST(VocabularyFile, RoundTrips) {
  const Vocabulary vocabulary{.kind = "llama",
                              .pieces = {"<s>", "a\"\\\n", "\xFF\x80", ""},
                              .types = {PieceType::kControl, kNormal, PieceType::kUserDefined, PieceType::kUnused}};
  ASSERT_OK_AND_ASSIGN(const Vocabulary back, parse_vocabulary(to_json(vocabulary)));
  EXPECT_EQ(back, vocabulary);
}

TEST(VocabularyFile, BadText) {
  const std::string good = to_json(one("gpt2", "a"));
  const auto with = [&good](const std::string& from, const std::string& to) {
    std::string text = good;
    return text.replace(text.find(from), from.size(), to);
  };
  const std::pair<std::string, std::string> cases[] = {
      {"", "not a JSON object"},
      {"[]", "not a JSON object"},
      {std::string(100000, '['), "not a JSON object"},
      {with("\"version\": 1", "\"version\": 2"), "version 1"},
      {with("headrace.vocabulary", "other"), "not a file of format"},
      {with("\"gpt2\"", "\"bert\""), "kind \"bert\", expected one of gpt2, llama"},
      {with("\"gpt2\"", "3"), "kind 3"},
      {with("\"a\"", "\"a\", \"b\""), "lists of one length"},
      {with("\"a\"", "7"), "piece 0 is neither"},
      {with("\"a\"", "[256]"), "piece 0 holds an item"},
      {with("[1]", "[7]"), "type of piece 0"},
  };
  for (const auto& [text, message] : cases)
    EXPECT_THAT(parse_vocabulary(text), IsError(ErrorCode::kVocabulary, HasSubstr(message)));
}

TEST(ReadVocabulary, FromCheckpoint) {
  GgufSpec spec = with_tokens("gpt2", {"<s>",
                                       "\xC4\xA0"
                                       "a"});
  spec.set(kv_array("tokenizer.ggml.token_type", Gv::kI32, {3, 1}));
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_spec(spec));
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const auto vocabulary, read_vocabulary(checkpoint, warnings));
  ASSERT_TRUE(vocabulary.has_value());
  EXPECT_EQ(piece_bytes(*vocabulary, 0), "<s>");
  EXPECT_EQ(piece_bytes(*vocabulary, 1), " a");
  EXPECT_TRUE(warnings.lines.empty());
}

TEST(ReadVocabulary, UnknownKindIsAWarning) {
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_spec(with_tokens("rwkv", {"a"})));
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const auto text, vocabulary_file(checkpoint, warnings));
  EXPECT_FALSE(text.has_value());
  EXPECT_THAT(warnings.lines, ElementsAre(HasSubstr("kind 'rwkv'")));
}

TEST(ReadVocabulary, NoTokens) {
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_spec(tiny()));
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const auto text, vocabulary_file(checkpoint, warnings));
  EXPECT_FALSE(text.has_value());
  ASSERT_OK_AND_ASSIGN(const auto facts, tokenizer_facts(checkpoint));
  EXPECT_FALSE(facts.has_value());
}

TEST(ReadVocabulary, Contradictions) {
  Warnings warnings;
  GgufSpec spec = with_tokens("gpt2", {"a", "b"});
  spec.set(kv_array("tokenizer.ggml.token_type", Gv::kI32, {1}));
  ASSERT_OK_AND_ASSIGN(const Checkpoint lengths, open_spec(spec));
  EXPECT_THAT(read_vocabulary(lengths, warnings), IsError(ErrorCode::kConfigValue, HasSubstr("has 1 items")));
  spec.set(kv_array("tokenizer.ggml.token_type", Gv::kI32, {1, 9}));
  ASSERT_OK_AND_ASSIGN(const Checkpoint number, open_spec(spec));
  EXPECT_THAT(read_vocabulary(number, warnings), IsError(ErrorCode::kConfigValue, HasSubstr("token 1 has type 9")));
}

TEST(TokenizerFacts, Specials) {
  GgufSpec spec = with_tokens("gpt2", {"a", "b", "c"});
  spec.set(kv_u32("tokenizer.ggml.bos_token_id", 0));
  spec.set(kv_u32("tokenizer.ggml.eos_token_id", 2));
  spec.set(kv_u32("tokenizer.ggml.eot_token_id", 1));
  spec.set(kv_u32("tokenizer.ggml.eom_token_id", 2));
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_spec(spec));
  ASSERT_OK_AND_ASSIGN(const auto facts, tokenizer_facts(checkpoint));
  ASSERT_TRUE(facts.has_value());
  EXPECT_EQ(facts->kind, "gpt2");
  EXPECT_EQ(facts->vocabulary, 3);
  EXPECT_EQ(facts->bos, 0);
  EXPECT_THAT(facts->eos, ElementsAre(2, 1));
  EXPECT_FALSE(facts->add_bos.has_value());

  spec.set(kv_u32("tokenizer.ggml.eos_token_id", 3));
  ASSERT_OK_AND_ASSIGN(const Checkpoint outside, open_spec(spec));
  EXPECT_THAT(tokenizer_facts(outside),
              IsError(ErrorCode::kConfigValue, HasSubstr("key tokenizer.ggml.eos_token_id: token 3 is outside")));
}

}  // namespace
}  // namespace headrace
