#include "ops/eval.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/half.h"
#include "base/narrow.h"
#include "ops/ops_testing.h"

namespace headrace {
namespace {

using testing::Ints;
using testing::tensor;
using testing::values_of;

TEST(HostTensor, OwnsZeros) {
  HostTensor<float> x(DType::kF32, {2, 3});
  EXPECT_EQ(x.rank(), 2);
  EXPECT_EQ(x.elements(), 6);
  EXPECT_EQ(values_of(x), std::vector<double>(6, 0.0));
  EXPECT_EQ(values_of(HostTensor<float>(DType::kI64, {0, 3})), std::vector<double>());
}

TEST(HostTensor, RefusesMisuse) {
  EXPECT_THROW(HostTensor<float>(DType::kF32, {-1}), InternalError);
  EXPECT_THROW(HostTensor<float>(DType::kF32, {int64_t{1} << 40, int64_t{1} << 40}), InternalError);
  HostTensor<float> x(DType::kF32, {4});
  EXPECT_THROW(static_cast<void>(x.ints()), InternalError);
  EXPECT_THROW(static_cast<void>(x.reshaped({5})), InternalError);
  const HostTensor<float> other = x.reshaped({2, 2});
  EXPECT_THROW(static_cast<void>(x.mutable_floats()), InternalError) << "shared";
  const auto storage = std::make_shared<const float>(1.0F);
  HostTensor<float> view(DType::kF32, {1}, storage);
  EXPECT_EQ(view.floats()[0], 1.0F);
  EXPECT_THROW(static_cast<void>(view.mutable_floats()), InternalError) << "a view";
}

TEST(HostTensor, SettlesToItsType) {
  EXPECT_EQ(values_of(tensor<float>(DType::kBF16, {2}, {1.00390625, 1.01171875})), (std::vector{1.0, 1.015625}));
  EXPECT_EQ(values_of(tensor<double>(DType::kF16, {1}, {65520})), std::vector{HUGE_VAL});
  EXPECT_EQ(values_of(tensor<double>(DType::kF32, {1}, {0.1})), std::vector{0.1}) << "f32 is not rounded in f64";
  EXPECT_EQ(values_of(tensor<float>(DType::kI8, {3}, {127, 128, -129})), (std::vector{127.0, -128.0, 127.0}));
  EXPECT_EQ(values_of(tensor<float>(DType::kU16, {2}, {65536, -1})), (std::vector{0.0, 65535.0}));
  EXPECT_EQ(values_of(tensor<float>(DType::kI1, {2}, {2, 3})), (std::vector{0.0, 1.0}));
}

// Every 16-bit pattern: reading is exact, and rounding what was read gives it back.
TEST(RoundTo, EveryHalfIsItself) {
  for (uint32_t pattern = 0; pattern <= 0xFFFF; ++pattern) {
    const auto bits = static_cast<uint16_t>(pattern);
    for (const DType dtype : {DType::kF16, DType::kBF16}) {
      const float wide = dtype == DType::kF16 ? f16_to_f32(bits) : bf16_to_f32(bits);
      if (std::isnan(wide)) {
        ASSERT_TRUE(std::isnan(round_to(dtype, wide)));
        continue;
      }
      ASSERT_EQ(std::bit_cast<uint32_t>(round_to(dtype, wide)), std::bit_cast<uint32_t>(wide)) << pattern;
      ASSERT_EQ(round_to(dtype, static_cast<double>(wide)), static_cast<double>(wide)) << pattern;
    }
  }
}

// Around every midpoint of two neighbours, also by less than f32 can tell: one rounding, ties to even.
TEST(RoundTo, RoundsF64Once) {
  for (uint16_t bits = 0; bits < 0x7C00; ++bits) {
    const double low = static_cast<double>(f16_to_f32(bits));
    const double high = bits == 0x7BFF ? 65536.0 : static_cast<double>(f16_to_f32(static_cast<uint16_t>(bits + 1)));
    const double middle = (low + high) / 2;
    const uint16_t even = (bits & 1) == 0 ? bits : static_cast<uint16_t>(bits + 1);
    ASSERT_EQ(f64_to_f16(middle), even) << bits;
    ASSERT_EQ(f64_to_f16(std::nextafter(middle, 0)), bits);
    ASSERT_EQ(f64_to_f16(std::nextafter(middle, 1e9)), bits + 1);
    ASSERT_EQ(f64_to_f16(-std::nextafter(middle, 1e9)), (bits + 1) | 0x8000);
  }
  for (uint16_t bits = 0; bits < 0x7F7F; ++bits) {
    const double low = static_cast<double>(bf16_to_f32(bits));
    const double high = static_cast<double>(bf16_to_f32(static_cast<uint16_t>(bits + 1)));
    const double middle = (low + high) / 2;
    ASSERT_EQ(f64_to_bf16(middle), (bits & 1) == 0 ? bits : bits + 1) << bits;
    ASSERT_EQ(f64_to_bf16(std::nextafter(middle, 0)), bits);
    ASSERT_EQ(f64_to_bf16(std::nextafter(middle, 1e300)), bits + 1);
  }
  EXPECT_EQ(f64_to_bf16(1e300), 0x7F80);
  EXPECT_EQ(f64_to_bf16(-1e300), 0xFF80);
  EXPECT_EQ(f64_to_f16(5e-324), 0);
  EXPECT_EQ(f64_to_f16(-5e-324), 0x8000);
  EXPECT_TRUE(std::isnan(bf16_to_f32(f64_to_bf16(std::nan("")))));
}

TEST(WrapTo, EveryWidth) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(wrap_to(DType::kI64, kLeast), kLeast);
  EXPECT_EQ(wrap_to(DType::kU64, -1), -1) << "u64 keeps its bits in an int64_t";
  EXPECT_EQ(wrap_to(DType::kU32, -1), 0xFFFFFFFF);
  EXPECT_EQ(wrap_to(DType::kI32, 0x80000000), -0x80000000LL);
  EXPECT_EQ(wrap_to(DType::kU8, 0x1FF), 0xFF);
  EXPECT_EQ(wrap_to(DType::kI16, 0x18000), -0x8000);
}

TEST(ToTensor, SplatAndDense) {
  EXPECT_EQ(values_of(to_tensor<double>(Literal::filled(DType::kF32, {2, 2}, 0.5))), std::vector<double>(4, 0.5));
  EXPECT_EQ(values_of(to_tensor<float>(Literal::of_ints(DType::kI16, {3}, {1, -2, 3}))), (std::vector{1.0, -2.0, 3.0}));
  EXPECT_EQ(to_tensor<float>(Literal::filled(DType::kF32, {0}, 1)).elements(), 0);
}

}  // namespace
}  // namespace headrace
