#include "tokenizer/pieces.h"

#include "base/testing.h"
#include "formats/gguf_testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using testing::GgufSpec;
using ::testing::HasSubstr;
using testing::IsError;
using testing::kv_strings;
using testing::kv_u32;
using testing::open_spec;
using testing::tiny;

GgufSpec with_tokens(const std::string& kind, const std::vector<std::string>& pieces) {
  GgufSpec spec = tiny();
  spec.set(testing::kv_string("tokenizer.ggml.model", kind));
  spec.set(kv_strings("tokenizer.ggml.tokens", pieces));
  return spec;
}

TEST(TokenizerFacts, NoTokens) {
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_spec(tiny()));
  ASSERT_OK_AND_ASSIGN(const auto facts, tokenizer_facts(checkpoint));
  EXPECT_FALSE(facts.has_value());
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
