#include "tools/top.h"

#include <gtest/gtest.h>

#include <limits>

namespace headrace::tools {
namespace {

// H07
TEST(Top, OrdersTiesAndNan) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> row = {1, 3, nan, 3, -std::numeric_limits<float>::infinity(), nan};
  std::vector<int64_t> ids;
  for (const Ranked& r : top(std::span(row), 5)) ids.push_back(r.id);
  EXPECT_EQ(ids, (std::vector<int64_t>{2, 5, 1, 3, 0}));
  EXPECT_EQ(top(std::span(row), 100).size(), row.size());
  EXPECT_TRUE(top(std::span<const float>(), 3).empty());
}

}  // namespace
}  // namespace headrace::tools
