#include "base/checked.h"

#include <gtest/gtest.h>

#include <array>
#include <limits>

namespace headrace {
namespace {

constexpr uint64_t kMaxU = std::numeric_limits<uint64_t>::max();
constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

TEST(Checked, Add) {
  EXPECT_EQ(checked_add<uint64_t>(kMaxU - 1, 1), kMaxU);
  EXPECT_EQ(checked_add<uint64_t>(kMaxU, 1), std::nullopt);
  EXPECT_EQ(checked_add<int64_t>(kMax, kMin), -1);
  EXPECT_EQ(checked_add<int64_t>(kMin, -1), std::nullopt);
  static_assert(checked_add(1, 2) == 3);
}

TEST(Checked, Mul) {
  EXPECT_EQ(checked_mul<uint64_t>(uint64_t{1} << 32, (uint64_t{1} << 32) - 1), kMaxU - 0xFFFFFFFFU);
  EXPECT_EQ(checked_mul<uint64_t>(uint64_t{1} << 32, uint64_t{1} << 32), std::nullopt);
  EXPECT_EQ(checked_mul<int64_t>(kMin, -1), std::nullopt);
  EXPECT_EQ(checked_mul<int64_t>(kMin, 1), kMin);
  EXPECT_EQ(checked_mul<uint64_t>(kMaxU, 0), 0U);
}

TEST(Checked, Align) {
  EXPECT_EQ(checked_align(0, 32), 0U);
  EXPECT_EQ(checked_align(1, 32), 32U);
  EXPECT_EQ(checked_align(64, 32), 64U);
  EXPECT_EQ(checked_align(25, 24), 48U);  // not only powers of two
  EXPECT_EQ(checked_align(7, 1), 7U);
  EXPECT_EQ(checked_align(kMaxU, 1), kMaxU);
  EXPECT_EQ(checked_align(kMaxU - 30, 32), std::nullopt);
  EXPECT_EQ(checked_align(kMaxU - 31, 32), kMaxU - 31);
}

TEST(Checked, Product) {
  EXPECT_EQ(checked_product({}), 1);
  EXPECT_EQ(checked_product(std::array<int64_t, 3>{2, 3, 7}), 42);
  EXPECT_EQ(checked_product(std::array<int64_t, 2>{int64_t{1} << 32, int64_t{1} << 31}), std::nullopt);
  EXPECT_EQ(checked_product(std::array<int64_t, 2>{kMax, 2}), std::nullopt);
  EXPECT_EQ(checked_product(std::array<int64_t, 3>{int64_t{1} << 62, 2, 0}), std::nullopt);  // on the way
}

}  // namespace
}  // namespace headrace
