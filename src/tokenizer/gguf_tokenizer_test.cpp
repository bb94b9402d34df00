#include <rapidcheck.h>

#include "base/testing.h"
#include "formats/gguf_testing.h"
#include "tokenizer/byte_alphabet.h"
#include "tokenizer/gguf_fields.h"
#include "tokenizer/tokenizer_file.h"
#include "tokenizer/utf8.h"

namespace headrace {
namespace {

using ::headrace::testing::IsError;
using ::headrace::testing::IsOk;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Ids = std::vector<int64_t>;

// Every byte, then what the merges make of them.
GgufTokenizerFields byte_level() {
  GgufTokenizerFields fields{.model = "gpt2", .pre = "smollm"};
  fields.merges = {"a b", "c d", "ab cd", "\u0120 ab", "a a"};
  for (int byte = 0; byte < 256; ++byte)
    fields.pieces.push_back(to_byte_alphabet(std::string(1, static_cast<char>(byte))));
  for (const char* piece : {"ab", "cd", "abcd", "\u0120ab", "aa", "<|im_start|>", "<|im_end|>"})
    fields.pieces.emplace_back(piece);
  fields.types.assign(fields.pieces.size(), PieceType::kNormal);
  fields.types[261] = fields.types[262] = PieceType::kControl;
  fields.bos = 261;
  fields.eos = 262;
  return fields;
}

GgufTokenizerFields sentencepiece() {
  GgufTokenizerFields fields{.model = "llama"};
  fields.pieces = {"<unk>", "<s>", "</s>", "\u2581", "a", "b", "\u2581a", "ab", "\u2581ab"};
  fields.scores = {0, 0, 0, -10, -11, -12, -2, -1, -3};
  for (int byte = 0; byte < 256; ++byte) {
    fields.pieces.push_back(piece_of_byte(static_cast<unsigned char>(byte)));
    fields.scores.push_back(0);
  }
  fields.types.assign(fields.pieces.size(), PieceType::kByte);
  for (size_t id = 3; id < 9; ++id) fields.types[id] = PieceType::kNormal;
  fields.types[0] = PieceType::kUnknown;
  fields.types[1] = fields.types[2] = PieceType::kControl;
  fields.bos = 1;
  fields.eos = 2;
  return fields;
}

GgufTokenizerFields unigram() {
  GgufTokenizerFields fields{.model = "t5"};
  fields.pieces = {"<pad>", "</s>", "<unk>", "\u2581", "a", "b", "\u2581a", "ab"};
  fields.scores = {0, 0, 0, -2, -3, -3, -4, -4};
  fields.types.assign(fields.pieces.size(), PieceType::kNormal);
  fields.types[0] = fields.types[1] = PieceType::kControl;
  fields.types[2] = PieceType::kUnknown;
  fields.eos = 1;
  fields.unknown = 2;
  fields.add_space_prefix = true;
  return fields;
}

Tokenizer made(const GgufTokenizerFields& fields) { return make_gguf_tokenizer(fields); }

std::vector<std::string> pieces(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options = {}) {
  const auto ids = tokenizer.encode(text, options);
  if (!ids) return {ids.error().text()};
  std::vector<std::string> out;
  for (const int64_t id : *ids) out.emplace_back(tokenizer.piece(id));
  return out;
}

TEST(GgufTokenizer, ByteLevel) {
  const Tokenizer tokenizer = made(byte_level());
  EXPECT_THAT(pieces(tokenizer, "abcd ab"), ElementsAre("abcd", "\u0120ab"));
  EXPECT_THAT(pieces(tokenizer, "a1a2"), ElementsAre("a", "1", "a", "2"));
  EXPECT_THAT(pieces(tokenizer, "aaab"), ElementsAre("aa", "ab"));
  EXPECT_THAT(pieces(tokenizer, "\u00e9"), ElementsAre("\u00c3", "\u00a9"));
  EXPECT_THAT(pieces(tokenizer, "\xFF"), ElementsAre("\u00ef", "\u00bf", "\u00bd"));  // U+FFFD
  EXPECT_THAT(pieces(tokenizer, "x<|im_end|>", {.parse_special = true}), ElementsAre("x", "<|im_end|>"));
  EXPECT_EQ(pieces(tokenizer, "<|im_end|>").size(), 10U);
  EXPECT_THAT(pieces(tokenizer, ""), ElementsAre());
}

TEST(GgufTokenizer, SentencePiece) {
  const Tokenizer tokenizer = made(sentencepiece());
  EXPECT_THAT(pieces(tokenizer, "ab"), ElementsAre("<s>", "\u2581ab"));  // by way of ab, which has the best score
  EXPECT_THAT(pieces(tokenizer, "a b"), ElementsAre("<s>", "\u2581a", "\u2581", "b"));
  EXPECT_THAT(pieces(tokenizer, "c\xFF", {.add_special = false}), ElementsAre("\u2581", "<0x63>", "<0xFF>"));
  EXPECT_THAT(pieces(tokenizer, "", {}), ElementsAre("<s>"));
  EXPECT_THAT(pieces(tokenizer, "a</s>b", {.parse_special = true}),
              ElementsAre("<s>", "\u2581a", "</s>", "\u2581", "b"));
  EXPECT_TRUE(tokenizer.adds_bos());
}

TEST(GgufTokenizer, Unigram) {
  const Tokenizer tokenizer = made(unigram());
  EXPECT_THAT(pieces(tokenizer, "ab"), ElementsAre("\u2581", "ab", "</s>"));  // -6; \u2581a b is -7
  EXPECT_THAT(pieces(tokenizer, "a xyz b"), ElementsAre("\u2581a", "\u2581", "<unk>", "\u2581", "b", "</s>"));
  auto fields = unigram();
  fields.remove_extra_whitespaces = true;
  EXPECT_THAT(pieces(made(fields), "  a   b  "), ElementsAre("\u2581a", "\u2581", "b", "</s>"));
}

TEST(GgufTokenizer, FramesTextsAsTheFileSays) {
  auto fields = byte_level();
  EXPECT_FALSE(made(fields).adds_bos());
  fields.add_bos = true;
  fields.add_eos = true;
  EXPECT_THAT(pieces(made(fields), "a"), ElementsAre("<|im_start|>", "a", "<|im_end|>"));
  EXPECT_THAT(pieces(made(fields), "a", {.add_special = false}), ElementsAre("a"));
  EXPECT_THAT(made(fields).bos(), ::testing::Optional(261));
  EXPECT_THAT(made(fields).ends(), ElementsAre(262));
  fields.pre = "llama-bpe";
  fields.add_bos.reset();
  EXPECT_TRUE(made(fields).adds_bos());
}

TEST(GgufTokenizer, KnowsControlTokensByTheirText) {
  auto fields = byte_level();
  fields.types[261] = fields.types[262] = PieceType::kUserDefined;
  const Tokenizer tokenizer = made(fields);
  EXPECT_FALSE(tokenizer.is_special(261));
  EXPECT_TRUE(tokenizer.is_special(262));  // <|im_end|> ends a turn, whatever its type
  EXPECT_THAT(pieces(tokenizer, "a<|im_start|>"), ElementsAre("a", "<|im_start|>"));
}

TEST(GgufTokenizer, DecodesWhatItEncoded) {
  for (const auto& fields : {byte_level(), sentencepiece()}) {
    const Tokenizer tokenizer = made(fields);
    EXPECT_TRUE(rc::check([&tokenizer] {
      const auto text = *rc::gen::container<std::string>(rc::gen::arbitrary<char>());
      const bool bytes = !tokenizer.find("<0x00>");
      const auto ids = tokenizer.encode(text, {.parse_special = *rc::gen::arbitrary<bool>()});
      RC_ASSERT(ids.has_value());
      const std::string expected = bytes ? with_replacements(text) : text;
      if (text.find('<') == std::string::npos) RC_ASSERT(*tokenizer.decode(*ids) == expected);
      StreamDecoder stream(tokenizer);
      std::string streamed;
      for (size_t i = 0; i < ids->size(); ++i) {
        const auto part = stream.push((*ids)[i]);
        RC_ASSERT(part.has_value());
        streamed += *part;
        const std::string all = *tokenizer.decode(std::span(*ids).first(i + 1));
        RC_ASSERT(streamed == all.substr(0, all.size() - incomplete_tail(all)));
      }
      RC_ASSERT(streamed + stream.finish() == *tokenizer.decode(*ids));
    }));
  }
}

TEST(GgufTokenizer, StreamsWholeCharacters) {
  StreamDecoder stream(made(byte_level()));
  EXPECT_EQ(*stream.push(0xF0), "");
  EXPECT_EQ(*stream.push(0x9F), "");
  EXPECT_EQ(*stream.push('a'),
            "\xF0\x9F"
            "a");  // no character any more: nothing to wait for
  EXPECT_EQ(*stream.push(0xE2), "");
  EXPECT_EQ(stream.finish(), "\xE2");
  EXPECT_THAT(stream.push(263), IsError(ErrorCode::kInput, HasSubstr("token 263: outside the vocabulary of 263")));
}

TEST(GgufTokenizer, ShowsOrHidesControlTokens) {
  const Tokenizer tokenizer = made(sentencepiece());
  const Ids ids = {1, 6, 2, 9 + 0x41};
  EXPECT_EQ(*tokenizer.decode(ids), "aA");
  EXPECT_EQ(*tokenizer.decode(ids, {.show_special = true}), "<s> a</s>A");
  EXPECT_EQ(*tokenizer.decode(Ids{6}, {.at_start = false}), " a");
  EXPECT_THAT(tokenizer.decode(Ids{-1}), IsError(ErrorCode::kInput, HasSubstr("token -1")));
}

TEST(GgufTokenizer, RefusesByName) {
  const auto refused = [](GgufTokenizerFields fields) {
    const auto ids = make_gguf_tokenizer(std::move(fields)).encode("a");
    return ids ? std::string("encodes") : ids.error().text();
  };
  auto fields = byte_level();
  fields.pre = "novel";
  EXPECT_THAT(refused(fields), HasSubstr("tokenizer.ggml.pre: pre-tokenizer 'novel' is not supported (known: default"));
  EXPECT_EQ(*made(fields).decode(Ids{256}), "ab");  // ids are spelt all the same
  fields.pre.reset();
  EXPECT_THAT(refused(fields), HasSubstr("tokenizer.ggml.pre is absent"));
  fields = byte_level();
  fields.model = "rwkv";
  EXPECT_THAT(refused(fields), HasSubstr("tokenizer.ggml.model: 'rwkv' is not supported"));
  fields = byte_level();
  fields.merges[1] = "c e";
  EXPECT_THAT(refused(fields), HasSubstr("tokenizer.ggml.merges: merge 1 'c e': 'ce' is not a piece"));
  fields.merges[1] = "no";
  EXPECT_THAT(refused(fields), HasSubstr("merge 1 'no': 'no' is not a piece"));
  fields.merges.clear();
  EXPECT_THAT(refused(fields), HasSubstr("tokenizer.ggml.merges is absent"));
  fields = byte_level();
  fields.add_bos = true;
  fields.bos.reset();
  EXPECT_THAT(refused(fields), HasSubstr("tokenizer.ggml.bos_token_id is absent"));
  fields = unigram();
  fields.eos.reset();
  EXPECT_THAT(refused(fields), HasSubstr("tokenizer.ggml.eos_token_id is absent"));
  fields = unigram();
  fields.unknown.reset();
  EXPECT_THAT(refused(fields), HasSubstr("tokenizer.ggml.unknown_token_id is absent"));
  fields = unigram();
  fields.charsmap = "\x01";
  EXPECT_THAT(refused(fields), HasSubstr("precompiled_charsmap: 1 bytes, expected at least 4"));
  fields = sentencepiece();
  fields.scores.clear();
  EXPECT_THAT(refused(fields), HasSubstr("tokenizer.ggml.scores is absent"));
  fields = sentencepiece();
  fields.pieces[9] = "other";
  EXPECT_THAT(refused(fields), HasSubstr("no piece for byte '<0x00>'"));
  fields = byte_level();
  fields.pieces[261] = std::string(2000, 'x');
  EXPECT_THAT(refused(fields), HasSubstr("control token 261 has 2000 bytes"));
  fields = byte_level();
  fields.pieces[260] = "ab";
  EXPECT_THAT(refused(fields), HasSubstr("tokenizer.ggml.tokens: piece 'ab' stands twice, as 256 and 260"));
}

// All patterns compile, and no text makes one fail.
TEST(GgufTokenizer, EveryPretokenizerIsUsable) {
  for (const std::string_view name : pretokenizer_names()) {
    auto fields = byte_level();
    fields.pre = std::string(name);
    const Tokenizer tokenizer = made(fields);
    for (const std::string_view text : {"", "Hello, World's 12345 \n\n  caf\u00e9 \u4f60\u597d! \U0001f600\t"}) {
      ASSERT_THAT(tokenizer.encode(text), IsOk()) << name;
      EXPECT_EQ(*tokenizer.decode(*tokenizer.encode(text)), text) << name;
    }
  }
}

TEST(GgufTokenizer, LongTextsTakeTimeInProportion) {
  for (const auto& fields : {byte_level(), sentencepiece(), unigram()}) {
    const Tokenizer tokenizer = made(fields);
    for (const std::string_view unit : {"a", "ab", "abcd ", " ", "\u00e9"}) {
      std::string text;
      while (text.size() < 1'000'000) text += unit;
      ASSERT_THAT(tokenizer.encode(text), IsOk());
    }
  }
}

TEST(GgufTokenizer, ReadsTheKeys) {
  using namespace headrace::testing;  // NOLINT(google-build-using-namespace)
  const auto fields = sentencepiece();
  GgufSpec spec;
  std::vector<double> types;
  for (const PieceType type : fields.types) types.push_back(static_cast<double>(type));
  spec.kvs = {kv_string("general.architecture", "llama"),
              kv_string("tokenizer.ggml.model", "llama"),
              kv_strings("tokenizer.ggml.tokens", fields.pieces),
              kv_array("tokenizer.ggml.token_type", Gv::kI32, types),
              kv_array("tokenizer.ggml.scores", Gv::kF32, {fields.scores.begin(), fields.scores.end()}),
              kv_u32("tokenizer.ggml.bos_token_id", 1),
              kv_u32("tokenizer.ggml.eos_token_id", 2)};
  const auto read = [&spec]() -> Result<Tokenizer> {
    HR_TRY(const Checkpoint checkpoint, open_spec(spec));
    return read_tokenizer(checkpoint);
  };
  ASSERT_OK_AND_ASSIGN(const Tokenizer tokenizer, read());
  EXPECT_THAT(pieces(tokenizer, "ab"), ElementsAre("<s>", "\u2581ab"));
  const GgufSpec good = spec;
  const auto faulty = [&](GgufKv kv, std::string_view message) {
    spec = good;
    spec.set(std::move(kv));
    EXPECT_THAT(read(), IsError(ErrorCode::kConfigValue, HasSubstr(std::string(message))));
  };
  faulty(kv_array("tokenizer.ggml.scores", Gv::kF32, {1, 2}),
         "tokenizer.ggml.scores has 2 items, tokenizer.ggml.tokens has 265");
  faulty(kv_array("tokenizer.ggml.token_type", Gv::kI32, {1}), "tokenizer.ggml.token_type has 1 items");
  faulty(kv_u32("tokenizer.ggml.bos_token_id", 265), "token 265 is outside the vocabulary of 265");
  faulty(kv_u32("tokenizer.ggml.merges", 1), "tokenizer.ggml.merges");
  faulty(kv_string("tokenizer.ggml.add_bos_token", "yes"), "add_bos_token");
  faulty(kv_array("tokenizer.ggml.precompiled_charsmap", Gv::kI32, {999}), "an item 999, expected bytes");
  types[3] = 9;
  faulty(kv_array("tokenizer.ggml.token_type", Gv::kI32, types), "token 3 has type 9");
  std::vector<double> scores(fields.scores.begin(), fields.scores.end());
  scores[4] = std::numeric_limits<double>::quiet_NaN();
  faulty(kv_array("tokenizer.ggml.scores", Gv::kF32, scores), "token 4 has nan");
  spec = good;
  spec.drop("tokenizer.ggml.tokens");
  EXPECT_THAT(read(), IsError(ErrorCode::kConfigMissing, HasSubstr("no tokenizer")));
}

}  // namespace
}  // namespace headrace
