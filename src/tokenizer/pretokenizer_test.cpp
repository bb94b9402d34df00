#include "tokenizer/pretokenizer.h"

#include "base/testing.h"

namespace headrace {
namespace {

using ::headrace::testing::IsError;
using ::testing::ElementsAre;

SplitterStage split(std::string_view pattern, SplitBehavior behavior, bool invert = false) {
  auto regex = Regex::compile(pattern, "test");
  HR_CHECK(regex.has_value());
  return SplitStage{.regex = *std::move(regex), .behavior = behavior, .invert = invert};
}

std::vector<std::string> words(const std::vector<SplitterStage>& stages, std::string_view text, bool first = true) {
  std::vector<std::string> out;
  const Status status = Splitter(stages).run({.text = text, .first = first}, [&out](const Word& word) -> Status {
    out.push_back((word.first ? "^" : "") + std::string(word.text));
    return {};
  });
  return status ? out : std::vector{status.error().text()};
}

// The table in the documentation of SplitDelimiterBehavior (huggingface.co/docs/tokenizers, pre-tokenizers).
TEST(Splitter, HasAllBehaviours) {
  const std::string_view text = "the-final--countdown";
  const auto of = [&](SplitBehavior behavior, bool invert = false) {
    return words({split("-", behavior, invert)}, text);
  };
  EXPECT_THAT(of(SplitBehavior::kRemoved), ElementsAre("^the", "final", "countdown"));
  EXPECT_THAT(of(SplitBehavior::kIsolated), ElementsAre("^the", "-", "final", "-", "-", "countdown"));
  EXPECT_THAT(of(SplitBehavior::kMergedWithPrevious), ElementsAre("^the-", "final-", "-", "countdown"));
  EXPECT_THAT(of(SplitBehavior::kMergedWithNext), ElementsAre("^the", "-final", "-", "-countdown"));
  EXPECT_THAT(of(SplitBehavior::kContiguous), ElementsAre("^the", "-", "final", "--", "countdown"));
  EXPECT_THAT(of(SplitBehavior::kRemoved, true), ElementsAre("-", "-", "-"));
}

TEST(Splitter, EveryStageCutsWhatIsLeft) {
  const std::vector<SplitterStage> stages = {split(R"(\p{N})", SplitBehavior::kIsolated),
                                             split(R"(\s+(?!\S)| ?\p{L}+)", SplitBehavior::kIsolated)};
  EXPECT_THAT(words(stages, "ab  12 cd"), ElementsAre("^ab", "  ", "1", "2", " cd"));
  EXPECT_THAT(words(stages, ""), ElementsAre());
  EXPECT_THAT(words({}, "as it is"), ElementsAre("^as it is"));
}

TEST(Splitter, CutsWhereAMatchIsEmpty) {
  EXPECT_THAT(words({split(R"((?=(\d{3})+(?!\d)))", SplitBehavior::kIsolated)}, "1234567"),
              ElementsAre("^1", "234", "567"));
}

TEST(Splitter, PutsASpaceFirst) {
  EXPECT_THAT(words({PrefixSpaceStage{}}, "a"), ElementsAre("^ a"));
  EXPECT_THAT(words({PrefixSpaceStage{}}, " a"), ElementsAre("^ a"));
}

TEST(Splitter, WritesSpacesAsSentencePieceDoes) {
  const auto stage = [](MetaspaceStage::Prepend prepend, bool cut) {
    return std::vector<SplitterStage>{MetaspaceStage{.replacement = "_", .prepend = prepend, .split = cut}};
  };
  EXPECT_THAT(words(stage(MetaspaceStage::Prepend::kAlways, true), "a b  c "),
              ElementsAre("^_a", "_b", "_", "_c", "_"));
  EXPECT_THAT(words(stage(MetaspaceStage::Prepend::kNever, false), "a b"), ElementsAre("^a_b"));
  EXPECT_THAT(words(stage(MetaspaceStage::Prepend::kAlways, false), " a"), ElementsAre("^_a"));
  EXPECT_THAT(words(stage(MetaspaceStage::Prepend::kFirst, false), "a", true), ElementsAre("^_a"));
  EXPECT_THAT(words(stage(MetaspaceStage::Prepend::kFirst, false), "a", false), ElementsAre("a"));
}

TEST(Splitter, StopsAtTheSinksError) {
  const std::vector<SplitterStage> stages = {split("-", SplitBehavior::kContiguous)};
  EXPECT_THAT(
      Splitter(stages).run({.text = "a-b"}, [](const Word&) -> Status { return fail(ErrorCode::kInput, "no"); }),
      IsError(ErrorCode::kInput, "no"));
}

}  // namespace
}  // namespace headrace
