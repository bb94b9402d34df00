#include "base/half.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace headrace {
namespace {

float from_bits(uint32_t bits) { return std::bit_cast<float>(bits); }
uint32_t to_bits(float value) { return std::bit_cast<uint32_t>(value); }

constexpr uint32_t kMagnitude = 0x7FFFFFFFU;
bool is_nan(uint32_t bits) { return (bits & kMagnitude) > 0x7F800000U; }

// The exact value of a finite half, by the definition in IEEE 754.
double f16_value(uint32_t bits) {
  const int exponent = static_cast<int>((bits >> 10) & 0x1FU);
  const double fraction = static_cast<double>(bits & 0x3FFU) / 1024.0;
  const double magnitude = exponent == 0 ? std::ldexp(fraction, -14) : std::ldexp(1.0 + fraction, exponent - 15);
  return (bits & 0x8000U) != 0 ? -magnitude : magnitude;
}

TEST(F16, EveryFiniteHalfWidensToItsValue) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const float wide = f16_to_f32(static_cast<uint16_t>(bits));
    if ((bits & 0x7C00U) == 0x7C00U) continue;
    ASSERT_EQ(static_cast<double>(wide), f16_value(bits)) << bits;
    ASSERT_EQ(std::signbit(wide), (bits & 0x8000U) != 0) << bits;
  }
  EXPECT_EQ(to_bits(f16_to_f32(0x7C00)), 0x7F800000U);
  EXPECT_EQ(to_bits(f16_to_f32(0xFC00)), 0xFF800000U);
}

TEST(F16, EveryHalfRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const bool nan = (bits & 0x7FFFU) > 0x7C00U;
    const uint32_t want = nan ? bits | 0x200U : bits;  // NaNs come back quiet, payload kept
    ASSERT_EQ(f32_to_f16(f16_to_f32(static_cast<uint16_t>(bits))), want) << bits;
  }
}

TEST(Bf16, EveryHalfRoundTrips) {
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<uint16_t>(bits);
    ASSERT_EQ(to_bits(bf16_to_f32(half)), bits << 16);
    const uint32_t want = is_nan(bits << 16) ? bits | 0x40U : bits;
    ASSERT_EQ(f32_to_bf16(bf16_to_f32(half)), want) << bits;
  }
}

TEST(Bf16, NarrowingRoundsToEvenAndKeepsNanAndSubnormals_E06) {
  EXPECT_EQ(f32_to_bf16(from_bits(0x3F808000)), 0x3F80);
  EXPECT_EQ(f32_to_bf16(from_bits(0x3F818000)), 0x3F82);
  EXPECT_EQ(f32_to_bf16(from_bits(0x7F800001)), 0x7FC0);
  EXPECT_EQ(f32_to_bf16(from_bits(0x7F7FFFFF)), 0x7F80);
  EXPECT_EQ(f32_to_bf16(from_bits(0x00018000)), 0x0002);
  EXPECT_EQ(f32_to_bf16(from_bits(0x80000000)), 0x8000);
  EXPECT_EQ(f32_to_bf16(257.F), f32_to_bf16(256.F));  // F03: positions collide
}

// Between each half and the next: just below the middle goes down, just above goes up, the middle goes to even.
TEST(F16, MiddlesRoundToEven) {
  for (uint32_t bits = 0; bits < 0x7BFF; ++bits) {
    const double low = f16_value(bits);
    const auto middle = static_cast<float>((low + f16_value(bits + 1)) / 2);
    const uint32_t even = (bits & 1U) == 0 ? bits : bits + 1;
    ASSERT_EQ(f32_to_f16(middle), even) << bits;
    ASSERT_EQ(f32_to_f16(std::nextafterf(middle, 0.F)), bits) << bits;
    ASSERT_EQ(f32_to_f16(std::nextafterf(middle, 1e9F)), bits + 1) << bits;
    ASSERT_EQ(f32_to_f16(-middle), even | 0x8000U) << bits;
  }
}

TEST(F16, OverflowAndUnderflow) {
  EXPECT_EQ(f32_to_f16(65504.F), 0x7BFF);
  EXPECT_EQ(f32_to_f16(std::nextafterf(65520.F, 0.F)), 0x7BFF);
  EXPECT_EQ(f32_to_f16(65520.F), 0x7C00);  // the middle to 2^16 is a tie, and the even side is infinity
  EXPECT_EQ(f32_to_f16(1e30F), 0x7C00);
  EXPECT_EQ(f32_to_f16(-1e30F), 0xFC00);
  EXPECT_EQ(f32_to_f16(0x1p-24F), 0x0001);
  EXPECT_EQ(f32_to_f16(0x1p-25F), 0x0000);
  EXPECT_EQ(f32_to_f16(std::nextafterf(0x1p-25F, 1.F)), 0x0001);
  EXPECT_EQ(f32_to_f16(-0x1p-26F), 0x8000);
  EXPECT_EQ(f32_to_f16(from_bits(1)), 0x0000);
  EXPECT_EQ(f32_to_f16(from_bits(0x7F800001)), 0x7E00);
  EXPECT_EQ(f32_to_f16(from_bits(0xFFFFFFFF)), 0xFFFF);
}

// Any f32: the narrowed value is no farther than either neighbour.
TEST(Halves, NarrowingIsNearest) {
  EXPECT_TRUE(rc::check("bf16 is nearest", [] {
    const auto bits = *rc::gen::arbitrary<uint32_t>();
    RC_PRE((bits & kMagnitude) < 0x7F000000U);
    const uint16_t half = f32_to_bf16(from_bits(bits));
    const auto distance = [&](uint16_t h) {
      return std::fabs(static_cast<double>(bf16_to_f32(h)) - static_cast<double>(from_bits(bits)));
    };
    RC_ASSERT(distance(half) <= distance(static_cast<uint16_t>(half + 1)));
    RC_ASSERT((half & 0x7FFFU) == 0 || distance(half) <= distance(static_cast<uint16_t>(half - 1)));
  }));
}

}  // namespace
}  // namespace headrace
