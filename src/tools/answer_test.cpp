#include "tools/answer.h"

#include "engine/toy_engine_testing.h"

namespace headrace::tools {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::ToyExport;

// The toy's logits are 1 for the next token and 0 for the others: almost surely the next one, and any other as well
// where it is penalised.
constexpr SamplingOptions kPenalised{.temperature = 0.1, .repetition_penalty = 1e9, .repetition_window = 1};

TEST(Answer, EveryTokenSoFarIsInTheHistoryWhenTheNextIsChosen) {
  for (const int64_t window : {1, 2, 64}) {
    SamplingOptions sampling = kPenalised;
    sampling.repetition_window = window;
    ASSERT_OK_AND_ASSIGN(auto decoder, Decoder<float>::open(ToyExport{}.make()));
    ASSERT_OK_AND_ASSIGN(Sampler sampler, Sampler::make(sampling));
    const std::vector<int64_t> prompt{1, 36};  // 32, 7, and then 7 again
    std::vector<int64_t> history;
    ASSERT_OK_AND_ASSIGN(const Answer made,
                         answer(decoder, std::nullopt, sampler, prompt, history, {.max_tokens = 12}));

    ASSERT_OK_AND_ASSIGN(auto again, Decoder<float>::open(ToyExport{}.make()));
    ASSERT_OK_AND_ASSIGN(Sampler other, Sampler::make(sampling));
    std::vector<int64_t> text = prompt;
    ASSERT_OK_AND_ASSIGN(auto next, again.feed(prompt));
    for (const int64_t token : made.tokens) {
      ASSERT_OK_AND_ASSIGN(const int64_t expected, other.sample(next.logits.floats(), text));
      EXPECT_EQ(token, expected) << "window " << window << ", after " << text.size() << " tokens";
      text.push_back(token);
      ASSERT_OK_AND_ASSIGN(next, again.feed(std::vector{token}));
    }
    text.pop_back();
    EXPECT_EQ(history, text) << "the last token is not fed";
  }
}

TEST(Answer, AChoiceNeedsLogitsAndSaysSoBeforeAnythingRuns) {
  const auto engine = ToyExport{.form = "token"}.make();
  ASSERT_OK_AND_ASSIGN(auto decoder, Decoder<float>::open(engine));
  ASSERT_OK_AND_ASSIGN(Sampler sampler, Sampler::make(kPenalised));
  std::vector<int64_t> history;
  EXPECT_THAT(answer(decoder, std::nullopt, sampler, std::vector<int64_t>{1}, history, {.max_tokens = 2}),
              IsError(ErrorCode::kInput, HasSubstr("--result")));
  EXPECT_TRUE(engine->calls.empty());
}

}  // namespace
}  // namespace headrace::tools
