#include "weights/rounding.h"

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsError;
using ::testing::Not;

ManifestParameter row(std::string name, std::optional<RoundingLoss> loss) {
  return {.name = std::move(name), .dtype = DType::kF16, .shape = {4, 8}, .rounding = loss};
}

TEST(Overflow, IsRefusedInOneLineThatNamesParametersAndCounts) {
  const std::vector rows{row("a", RoundingLoss{.inexact = 9, .overflowed = 3, .largest_error = 1}),
                         row("b", RoundingLoss{.inexact = 9, .overflowed = 0, .largest_error = 1}),
                         row("c", std::nullopt), row("d", RoundingLoss{.inexact = 1, .overflowed = 1})};
  Warnings warnings;
  const auto status = check_overflow(rows, false, warnings);
  EXPECT_THAT(status,
              IsError(ErrorCode::kOverflow,
                      HasSubstr("beyond f16, which ends at 65504, in 2 parameters: 'a' (3 of 32 values), 'd' (1 "
                                "of 32 values); --allow-overflow writes infinities")));
  EXPECT_THAT(status.error().more, IsEmpty());
  EXPECT_THAT(warnings.lines, IsEmpty());
}

TEST(Overflow, IsAWarningForEachWhereAllowed) {
  const std::vector rows{row("a", RoundingLoss{.inexact = 9, .overflowed = 3}), row("b", RoundingLoss{.inexact = 9})};
  Warnings warnings;
  EXPECT_OK(check_overflow(rows, true, warnings));
  EXPECT_THAT(warnings.lines, ElementsAre("parameter 'a': 3 of 32 values are beyond f16 and became infinite"));
}

TEST(Overflow, ManyParametersAreCountedAndTheFirstNamed) {
  std::vector<ManifestParameter> rows;
  for (int i = 0; i < 20; ++i) rows.push_back(row(fmt::format("p{}", i), RoundingLoss{.inexact = 1, .overflowed = 1}));
  Warnings warnings;
  EXPECT_THAT(check_overflow(rows, false, warnings),
              IsError(ErrorCode::kOverflow, AllOf(HasSubstr("20 parameters"), HasSubstr("'p7' (1 of 32 values), ...;"),
                                                  Not(HasSubstr("'p8'")))));
}

TEST(RoundingSummary, AddsUpAndNamesTheWorst) {
  EXPECT_EQ(summarise_rounding(std::vector{row("c", std::nullopt)}), std::nullopt);
  const auto summary = summarise_rounding(std::vector{row("a", RoundingLoss{.inexact = 5, .largest_error = 0.25}),
                                                      row("b", RoundingLoss{.inexact = 7, .largest_error = 0.5}),
                                                      row("c", std::nullopt), row("d", RoundingLoss{})});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->values, 96U);
  EXPECT_EQ(summary->inexact, 12U);
  EXPECT_EQ(summary->largest_error, 0.5);
  EXPECT_EQ(summary->parameter, "b");
}

}  // namespace
}  // namespace headrace
