// The driver on an engine that is a toy. On real engines and models: tests/engines.
#include "engine/decoder.h"

#include <limits>

#include "engine/toy_engine_testing.h"

namespace headrace {
namespace {

using testing::continuation_of;
using ::testing::ElementsAre;
using testing::function_of;
using ::testing::HasSubstr;
using testing::IsError;
using testing::kCache;
using testing::kCapacity;
using testing::kVocabulary;
using testing::next_of;
using testing::result_of;
using testing::ToyEngine;
using testing::ToyExport;

std::vector<int64_t> prompt_of(int64_t count) {
  std::vector<int64_t> out(static_cast<size_t>(count));
  std::iota(out.begin(), out.end(), 1);
  return out;
}

Result<Continuation> run(const std::shared_ptr<ToyEngine>& engine, int64_t prompt, ContinueOptions<float> options) {
  HR_TRY(auto decoder, Decoder<float>::open(engine));
  return continue_text<float>(decoder, prompt_of(prompt), options);
}

void expect_right(const std::shared_ptr<ToyEngine>& engine, int64_t prompt, int count) {
  ASSERT_OK_AND_ASSIGN(const auto made, run(engine, prompt, {.max_tokens = count}));
  EXPECT_EQ(made.tokens, continuation_of(prompt_of(prompt), count)) << "prompt of " << prompt;
  EXPECT_EQ(made.stop, StopReason::kMaxTokens);
  EXPECT_LE(made.first_token_seconds, made.seconds);
  EXPECT_LE(made.engine_seconds, made.seconds);
}

TEST(DecoderTest, EveryPromptWithEveryChoiceOfFunctions) {
  using List = std::vector<std::string>;
  const List choices[] = {{"prefill", "chunk", "decode"},
                          {"prefill", "decode"},
                          {"chunk", "decode"},
                          {"decode"},
                          {"prefill", "chunk"},
                          {"chunk"},
                          {"score"}};
  for (const List& functions : choices) {
    for (const std::string form : {"logits", "last_logits", "token"}) {
      for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{4, 8}, {3}, {}}) {
        const bool is_score = functions[0] == "score";
        const ToyExport toy{
            .functions = functions, .form = form, .lengths = is_score ? std::vector<int64_t>{20} : lengths};
        for (const int64_t prompt : {1, 3, 4, 5, 8, 9, 16, 17}) expect_right(toy.make(), prompt, 4);
      }
    }
  }
}

TEST(DecoderTest, PicksTheSmallestProgramThatHoldsTheText) {
  const auto calls_for = [](const ToyExport& toy, int64_t prompt) {
    const auto engine = toy.make();
    EXPECT_OK(run(engine, prompt, {.max_tokens = 2}));
    EXPECT_EQ(engine->reads, 2) << "no result but the last is read";
    return engine->calls;
  };
  EXPECT_THAT(calls_for({}, 3), ElementsAre("prefill 4", "decode 1"));
  EXPECT_THAT(calls_for({}, 8), ElementsAre("prefill 8", "decode 1"));
  EXPECT_THAT(calls_for({}, 9), ElementsAre("prefill 8", "decode 1", "decode 1"));
  EXPECT_THAT(calls_for({}, 18), ElementsAre("prefill 8", "chunk 8", "chunk 4", "decode 1"));
  EXPECT_THAT(calls_for({.functions = {"prefill", "decode"}}, 10),
              ElementsAre("prefill 8", "decode 1", "decode 1", "decode 1"));
  EXPECT_THAT(calls_for({.lengths = {}}, 11), ElementsAre("prefill 11", "decode 1"));
  EXPECT_THAT(calls_for({.functions = {"score"}, .lengths = {8}}, 3), ElementsAre("score 8", "score 8"));
  EXPECT_THAT(calls_for({.functions = {"score"}, .lengths = {}}, 3), ElementsAre("score 3", "score 4"));
}

TEST(DecoderTest, PreparesWhatItWillRun) {
  const auto engine = ToyExport{}.make();
  ASSERT_OK_AND_ASSIGN(auto decoder, Decoder<float>::open(engine));
  EXPECT_EQ(decoder.capacity(), kCapacity);
  EXPECT_EQ(decoder.vocabulary(), kVocabulary);
  ASSERT_OK(decoder.prepare(11, 1));
  EXPECT_THAT(engine->prepared, ElementsAre("prefill 8", "chunk 4", "decode"));
  EXPECT_THAT(engine->calls, ElementsAre());
  engine->prepared.clear();
  ASSERT_OK(decoder.prepare(kCapacity, 5));
  EXPECT_THAT(engine->prepared, ElementsAre("prefill 8", "chunk 8", "chunk 4")) << "there is no room for more";
  EXPECT_THAT(decoder.prepare(21, 0), IsError(ErrorCode::kCacheFull, HasSubstr("21 tokens")));

  const auto scoring = ToyExport{.functions = {"score"}, .lengths = {4, 8, 12}}.make();
  ASSERT_OK_AND_ASSIGN(auto scorer, Decoder<float>::open(scoring));
  ASSERT_OK(scorer.prepare(3, 4));
  EXPECT_THAT(scoring->prepared, ElementsAre("score 4", "score 8"));
}

TEST(DecoderTest, TextsGoOnWhereTheyAre) {
  ASSERT_OK_AND_ASSIGN(auto decoder, Decoder<float>::open(ToyExport{.form = "token"}.make()));
  ASSERT_OK(decoder.feed(prompt_of(5)));
  ASSERT_OK(decoder.feed(std::vector<int64_t>{9, 9, 9}));
  ASSERT_OK_AND_ASSIGN(const auto next, decoder.feed(std::vector<int64_t>{7}));
  EXPECT_EQ(decoder.length(), 9);
  EXPECT_EQ(next.token, next_of(std::vector<int64_t>{1, 2, 3, 4, 5, 9, 9, 9, 7}));
  decoder.clear();
  ASSERT_OK_AND_ASSIGN(const auto fresh, decoder.feed(prompt_of(2)));
  EXPECT_EQ(fresh.token, next_of(prompt_of(2)));
}

TEST(DecoderTest, AFullCacheIsAnError) {
  for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{4, 8}, {}}) {
    std::vector<int64_t> seen;
    const auto engine = ToyExport{.lengths = lengths}.make();
    EXPECT_THAT(run(engine, 18,
                    {.max_tokens = 10,
                     .on_token =
                         [&seen](int64_t token) {
                           seen.push_back(token);
                           return true;
                         }}),
                IsError(ErrorCode::kCacheFull,
                        "the cache is full: it holds 20 of 20 tokens, 1 more do not fit "
                        "(headrace export --kv)"));
    EXPECT_EQ(seen, continuation_of(prompt_of(18), 3)) << "the last position predicts one more";
    ASSERT_OK_AND_ASSIGN(const auto made, run(engine, 18, {.max_tokens = 10, .full_cache_ends = true}));
    EXPECT_EQ(made.tokens, seen);
    EXPECT_EQ(made.stop, StopReason::kBound);
    EXPECT_THAT(
        run(engine, 21, {.max_tokens = 1}),
        IsError(ErrorCode::kCacheFull, "21 tokens, more than the cache's capacity of 20 (headrace export --kv)"));
  }
}

TEST(DecoderTest, ScoreEndsAtItsBound) {
  const auto engine = ToyExport{.functions = {"score"}, .lengths = {8}}.make();
  ASSERT_OK_AND_ASSIGN(const auto made, run(engine, 6, {.max_tokens = 10}));
  EXPECT_EQ(made.tokens, continuation_of(prompt_of(6), 3));
  EXPECT_EQ(made.stop, StopReason::kBound);
  EXPECT_THAT(run(engine, 9, {.max_tokens = 1}),
              IsError(ErrorCode::kInput, "9 tokens, expected at most 8 (the export's bound, --seq)"));
}

TEST(DecoderTest, TokensThatDoNotFit) {
  const auto engine = ToyExport{}.make();
  ASSERT_OK_AND_ASSIGN(auto decoder, Decoder<float>::open(engine));
  EXPECT_THAT(decoder.feed({}), IsError(ErrorCode::kInput, "no tokens, expected 1 to 20"));
  EXPECT_THAT(decoder.feed(std::vector<int64_t>{1, kVocabulary}),
              IsError(ErrorCode::kInput, "token 50 at position 1 is outside the vocabulary, expected 0 to 49"));
  ASSERT_OK(decoder.feed(prompt_of(2)));
  EXPECT_THAT(decoder.feed(std::vector<int64_t>{-1}), IsError(ErrorCode::kInput, HasSubstr("token -1 at position 2")));
  EXPECT_THAT(engine->calls, ElementsAre("prefill 4")) << "nothing runs that is refused";
  EXPECT_EQ(decoder.length(), 2);
}

TEST(DecoderTest, WhereAContinuationEnds) {
  auto engine = ToyExport{}.make();
  const auto whole = continuation_of(prompt_of(3), 5);
  ASSERT_OK_AND_ASSIGN(
      auto made,
      run(engine, 3, {.max_tokens = 5, .on_token = [&](int64_t token) -> bool { return token != whole[1]; }}));
  EXPECT_THAT(made.tokens, ElementsAre(whole[0], whole[1]));
  EXPECT_EQ(made.stop, StopReason::kCaller);
  ASSERT_OK_AND_ASSIGN(made, run(engine, 3, {.max_tokens = 0}));
  EXPECT_THAT(made.tokens, ElementsAre());
}

TEST(DecoderTest, ChoosesByACallersRule) {
  const auto second = [](std::span<const float> logits) -> Result<int64_t> {
    const auto best = std::ranges::max_element(logits) - logits.begin();
    return (best + 1) % kVocabulary;
  };
  ASSERT_OK_AND_ASSIGN(const auto made, run(ToyExport{}.make(), 3, {.max_tokens = 1, .pick = second}));
  EXPECT_THAT(made.tokens, ElementsAre((next_of(prompt_of(3)) + 1) % kVocabulary));
  EXPECT_THAT(run(ToyExport{.form = "token"}.make(), 3, {.max_tokens = 1, .pick = second}),
              IsError(ErrorCode::kInput, HasSubstr("the export gives tokens, not logits")));
}

TEST(DecoderTest, NaNIsAnError) {
  for (const std::string form : {"logits", "last_logits", "token"}) {
    const auto engine = ToyExport{.form = form}.make();
    engine->gives_nan = true;
    EXPECT_THAT(run(engine, 3, {.max_tokens = 2}), IsError(ErrorCode::kEvaluate, HasSubstr("logits at position 2: ")));
  }
}

TEST(DecoderTest, AfterAFailureTheTextIsGone) {
  const auto engine = ToyExport{}.make();
  ASSERT_OK_AND_ASSIGN(auto decoder, Decoder<float>::open(engine));
  ASSERT_OK(decoder.feed(prompt_of(3)));
  engine->broken = "decode";
  EXPECT_THAT(decoder.feed(std::vector<int64_t>{1}), IsError(ErrorCode::kEngine, "broken"));
  EXPECT_EQ(decoder.length(), 0);
  EXPECT_OK(decoder.feed(prompt_of(3)));
}

TEST(DecoderTest, CapacityIsTheManifestsToSay) {
  const auto engine = ToyExport{}.make();
  Manifest manifest = engine->manifest();
  manifest.kv.reset();
  EXPECT_THAT(Decoder<float>::open(std::make_shared<ToyEngine>(std::move(manifest), engine->programs())),
              IsError(ErrorCode::kInput, "chunk: the manifest does not say how much its caches hold"));
}

TEST(DecoderTest, FunctionsOfAnotherForm) {
  const auto open_with = [](const std::function<void(ManifestFunction&)>& change) {
    auto engine = ToyExport{}.make();
    Manifest manifest = engine->manifest();
    change(manifest.functions[1]);  // chunk
    return Decoder<float>::open(std::make_shared<ToyEngine>(std::move(manifest), engine->programs()));
  };
  using F = ManifestFunction;
  EXPECT_THAT(open_with([](F& f) {
                f.arguments[0].shape = {3, Dim::symbol("seq")};
              }),
              IsError(ErrorCode::kInput, "chunk: tokens are [3, seq]: only a batch of 1 can be continued"));
  EXPECT_THAT(open_with([](F& f) { f.arguments[1].name = "count"; }),
              IsError(ErrorCode::kInput, "chunk: argument 'count' i32[1] has no place in decoding"));
  EXPECT_THAT(open_with([](F& f) { f.arguments[0].name = "ids"; }),
              IsError(ErrorCode::kInput, HasSubstr("tokens i32")));
  EXPECT_THAT(open_with([](F& f) { f.results[0].name = "scores"; }),
              IsError(ErrorCode::kInput, HasSubstr("expected its first result to be logits")));
  EXPECT_THAT(open_with([](F& f) { f.results.clear(); }), IsError(ErrorCode::kInput, HasSubstr("first result")));
  EXPECT_THAT(open_with([](F& f) { f.results.push_back(result_of("token")); }),
              IsError(ErrorCode::kInput, HasSubstr("result 'token' i32[1] has no place")));
  EXPECT_THAT(open_with([](F& f) { f.state.clear(); }),
              IsError(ErrorCode::kInput, HasSubstr("cache 'cache.0.k' f32[1, 1, 20, 1] has no result")));
  EXPECT_THAT(open_with([](F& f) { f.results.push_back(kCache); }),
              IsError(ErrorCode::kInput, HasSubstr("1 caches, 2")));
  EXPECT_THAT(Decoder<float>::open(ToyExport{.functions = {"prefill"}}.make()),
              IsError(ErrorCode::kInput, HasSubstr("no 'score', 'chunk' or 'decode' for toy")));
}

}  // namespace
}  // namespace headrace
