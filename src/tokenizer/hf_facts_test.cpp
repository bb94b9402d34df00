#include "tokenizer/hf_facts.h"

#include <gtest/gtest.h>

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

using Metadata = std::map<std::string, MetaValue, std::less<>>;

Checkpoint with(Metadata metadata) {
  Checkpoint out;
  out.kind = ContainerKind::kSafetensors;
  out.metadata = std::move(metadata);
  return out;
}

MetaValue ids(std::vector<int64_t> list) { return {MetaArray(std::move(list))}; }

TEST(HfFacts, GenerationConfigComesFirst) {
  const Checkpoint c = with({{"vocab_size", {int64_t{48}}},
                             {"bos_token_id", {int64_t{1}}},
                             {"eos_token_id", {int64_t{2}}},
                             {"generation_config.eos_token_id", ids({7, 2, 7})},
                             {"tokenizer_config.add_bos_token", {true}},
                             {"tokenizer_config.tokenizer_class", {std::string("LlamaTokenizer")}}});
  ASSERT_OK_AND_ASSIGN(const auto facts, tokenizer_facts(c));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->kind, "LlamaTokenizer");
  EXPECT_EQ(facts->vocabulary, 48);
  EXPECT_EQ(facts->bos, 1);
  EXPECT_THAT(facts->eos, ElementsAre(7, 2));
  EXPECT_EQ(facts->add_bos, true);
}

TEST(HfFacts, NullIsAbsentAndTextConfigComesLast) {
  const Checkpoint c = with({{"text_config.vocab_size", {int64_t{48}}},
                             {"generation_config.bos_token_id", {std::monostate()}},
                             {"bos_token_id", {std::monostate()}},
                             {"text_config.bos_token_id", {int64_t{3}}},
                             {"eos_token_id", {int64_t{2}}},
                             {"text_config.eos_token_id", {int64_t{4}}},
                             {"tokenizer_config.add_bos_token", {std::monostate()}}});
  ASSERT_OK_AND_ASSIGN(const auto facts, tokenizer_facts(c));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->kind, "");
  EXPECT_EQ(facts->bos, 3);
  EXPECT_THAT(facts->eos, ElementsAre(2));
  EXPECT_EQ(facts->add_bos, std::nullopt);
}

TEST(HfFacts, TheMatrixBoundsTheIds) {
  const Checkpoint c = with({{"vocab_size", {int64_t{48}}}, {"bos_token_id", {int64_t{48}}}});
  EXPECT_THAT(tokenizer_facts(c), IsError(ErrorCode::kConfigValue,
                                          HasSubstr("key bos_token_id: token 48 is outside the vocabulary of 48")));
  ASSERT_OK_AND_ASSIGN(const auto facts, tokenizer_facts(c, 64));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->vocabulary, 64);
}

TEST(HfFacts, AnEndThatNoLogitStandsForIsLeftOut) {
  const Checkpoint c =
      with({{"vocab_size", {int64_t{48}}}, {"bos_token_id", {int64_t{1}}}, {"eos_token_id", ids({48, 47, -1})}});
  ASSERT_OK_AND_ASSIGN(const auto facts, tokenizer_facts(c));
  ASSERT_TRUE(facts);
  EXPECT_THAT(facts->eos, ElementsAre(47));
}

// Each is compared with those before it: a list as long as the file is time in the square of its length.
TEST(HfFacts, AListOfEndTokensHasALimit) {
  std::vector<int64_t> list(1000);
  for (size_t i = 0; i < list.size(); ++i) list[i] = static_cast<int64_t>(i);
  ASSERT_OK_AND_ASSIGN(const auto facts,
                       tokenizer_facts(with({{"vocab_size", {int64_t{5000}}}, {"eos_token_id", ids(list)}})));
  ASSERT_TRUE(facts);
  EXPECT_EQ(facts->eos.size(), 1000U);
  list.push_back(1000);
  EXPECT_THAT(tokenizer_facts(with({{"vocab_size", {int64_t{5000}}}, {"eos_token_id", ids(list)}})),
              IsError(ErrorCode::kConfigValue, HasSubstr("key eos_token_id: a list of 1001 tokens, expected at most")));
}

TEST(HfFacts, NothingNamedIsNoTokenizer) {
  ASSERT_OK_AND_ASSIGN(const auto facts, tokenizer_facts(with({{"vocab_size", {int64_t{48}}}})));
  EXPECT_FALSE(facts);
  ASSERT_OK_AND_ASSIGN(const auto unbounded, tokenizer_facts(with({{"eos_token_id", {int64_t{2}}}})));
  EXPECT_FALSE(unbounded) << "without any vocabulary's size";
}

TEST(HfFacts, WrongTypesAreRefused) {
  const auto error = [](Metadata metadata, std::string_view message) {
    metadata.emplace("vocab_size", MetaValue{int64_t{48}});
    EXPECT_THAT(tokenizer_facts(with(std::move(metadata))), IsError(ErrorCode::kConfigValue, HasSubstr(message)));
  };
  error({{"bos_token_id", {std::string("<s>")}}}, "bos_token_id");
  error({{"bos_token_id", ids({1, 2})}}, "key bos_token_id: a list of 2 tokens, expected one");
  error({{"bos_token_id", {int64_t{-1}}}}, "key bos_token_id: token -1 is outside the vocabulary of 48");
  error({{"eos_token_id", {1.5}}}, "eos_token_id");
  error({{"eos_token_id", {1.0}}, {"tokenizer_config.add_bos_token", {int64_t{1}}}}, "tokenizer_config.add_bos_token");
}

}  // namespace
}  // namespace headrace
