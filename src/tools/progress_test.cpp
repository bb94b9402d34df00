#include "tools/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "tools/usage.h"

namespace headrace::tools {
namespace {

using std::chrono::milliseconds;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Screen {
  std::vector<std::string> writes;
  Progress::Clock::time_point now;

  Progress::Options options(ProgressStyle style, int columns = 80) {
    return {.style = style,
            .columns = columns,
            .write = [this](std::string_view bytes) { writes.emplace_back(bytes); },
            .now = [this] { return now; }};
  }
};

TEST(Progress, BarShowsBytesRateAndTimeLeft) {
  Screen screen;
  Progress progress(screen.options(ProgressStyle::kBar));
  progress.update(0, 400'000'000);
  screen.now += milliseconds(2000);
  progress.update(100'000'000, 400'000'000);
  ASSERT_THAT(screen.writes, SizeIs(2));
  EXPECT_THAT(screen.writes[1], HasSubstr("25%  100 MB of 400 MB  50.0 MB/s  0:06 left"));
  EXPECT_THAT(screen.writes[1], HasSubstr("[#"));
  EXPECT_THAT(screen.writes[1], ::testing::StartsWith("\r\x1B[K"));
  EXPECT_THAT(screen.writes[1], ::testing::Not(HasSubstr("\n")));
}

TEST(Progress, BarRedrawsTenTimesASecondAtMostAndIsErased) {
  Screen screen;
  {
    Progress progress(screen.options(ProgressStyle::kBar));
    for (uint64_t i = 0; i < 1000; ++i) {
      screen.now += milliseconds(1);
      progress.update(i, 1000);
    }
  }
  EXPECT_THAT(screen.writes, SizeIs(11));  // 10 in the second, and the erasure
  EXPECT_EQ(screen.writes.back(), "\r\x1B[K");
}

TEST(Progress, BarNeverWraps) {
  for (int columns = 1; columns < 100; ++columns) {
    Screen screen;
    Progress progress(screen.options(ProgressStyle::kBar, columns));
    progress.update(1, 3'000'000'000);
    EXPECT_LE(screen.writes[0].size() - 4, static_cast<size_t>(std::max(columns - 1, 1))) << columns;
  }
}

TEST(Progress, PlainIsAFewLines) {
  Screen screen;
  {
    Progress progress(screen.options(ProgressStyle::kPlain));
    for (uint64_t i = 0; i <= 1000; ++i) {
      screen.now += milliseconds(1);
      progress.update(i * 1000, 1'000'000);
    }
  }
  ASSERT_THAT(screen.writes, SizeIs(4));
  EXPECT_THAT(screen.writes[0], HasSubstr("weights: 250 kB of 1.00 MB (25%), 1.00 MB/s\n"));
  EXPECT_THAT(screen.writes[3], HasSubstr("(100%)"));
}

TEST(Progress, NothingToSay) {
  Screen screen;
  Progress none(screen.options(ProgressStyle::kNone));
  none.update(1, 2);
  Progress empty(screen.options(ProgressStyle::kBar));
  empty.update(0, 0);
  Progress finished(screen.options(ProgressStyle::kPlain));
  finished.finish();
  finished.update(2, 2);
  EXPECT_THAT(screen.writes, IsEmpty());
}

TEST(ProgressStyle, Modes) {
  EXPECT_EQ(progress_style("plain"), ProgressStyle::kPlain);
  EXPECT_EQ(progress_style("none"), ProgressStyle::kNone);
  EXPECT_THROW(static_cast<void>(progress_style("bar")), UsageError);
}

}  // namespace
}  // namespace headrace::tools
