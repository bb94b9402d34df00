// Fast paths against their scalar twins, on every instruction set of this machine.
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/half.h"
#include "quant/block_type.h"
#include "quant/decode.h"
#include "quant/decode_testing.h"

namespace headrace {
namespace {

using testing::first_difference;
using testing::for_each_target;
using testing::run;

using Halves = std::vector<uint16_t>;

Halves rounded(const std::vector<float>& values, uint16_t (*round)(float)) {
  Halves out(values.size());
  std::transform(values.begin(), values.end(), out.begin(), round);
  return out;
}

// Bytes at random, in which every value that is a scale somewhere is now and then special.
std::vector<uint8_t> random_bytes(size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<uint8_t> out(count);
  for (uint8_t& byte : out) byte = static_cast<uint8_t>(random() >> 32);
  // Halves of all ones, infinite and zero, at both parities of their places.
  for (size_t i = 0; i + 3 < count; i += 1 + random() % 97) {
    constexpr std::array<uint16_t, 6> kSpecial = {0xFFFF, 0x7C00, 0xFC00, 0x0000, 0x8000, 0x0001};
    const uint16_t bits = kSpecial[random() % kSpecial.size()];
    std::memcpy(out.data() + i, &bits, sizeof(bits));
  }
  return out;
}

// Runs `decode` into the middle of a buffer and checks that it wrote all of `want` and nothing else. By bytes: the bits
// of NaNs count.
template <class T>
void expect_writes(void (*decode)(std::span<const std::byte>, std::span<T>), std::span<const std::byte> in,
                   const std::vector<T>& want, size_t out_shift) {
  constexpr T kGuard = 123;
  std::vector<T> got(out_shift + want.size() + 8, kGuard);
  decode(in, std::span(got).subspan(out_shift, want.size()));
  RC_ASSERT(std::all_of(got.begin(), got.begin() + static_cast<ptrdiff_t>(out_shift), [](T x) { return x == kGuard; }));
  RC_ASSERT(std::all_of(got.end() - 8, got.end(), [](T x) { return x == kGuard; }));
  if (!want.empty()) RC_ASSERT(std::memcmp(got.data() + out_shift, want.data(), want.size() * sizeof(T)) == 0);
}

// Any bytes, any number of blocks, any start of input and output.
void check_fast_equals_scalar(const BlockTypeInfo& row) {
  // 0 to 40 blocks of 256, and as many elements of the others.
  const auto blocks = *rc::gen::inRange<size_t>(0, 40 * 256 / static_cast<size_t>(row.block_elements));
  const auto shift = *rc::gen::inRange<size_t>(0, 64);
  const auto out_shift = *rc::gen::inRange<size_t>(0, 16);
  const auto seed = *rc::gen::arbitrary<uint64_t>();
  const auto raw = random_bytes(shift + blocks * static_cast<size_t>(row.block_bytes), seed);
  const auto in = std::as_bytes(std::span(raw)).subspan(shift);
  const auto want = run(row.scalar, row, in);
  const auto want_bf16 = rounded(want, f32_to_bf16);
  const auto want_f16 = rounded(want, f32_to_f16);
  for_each_target([&](const std::string& target) {
    RC_LOG() << std::string(row.name) << " on " << target;
    if (row.fast != nullptr) expect_writes(row.fast, in, want, out_shift);
    if (row.fast_bf16 != nullptr) expect_writes(row.fast_bf16, in, want_bf16, out_shift);
    if (row.fast_f16 != nullptr) expect_writes(row.fast_f16, in, want_f16, out_shift);
  });
}

TEST(FastPath, EqualsScalarBitForBit) {
  for (const BlockTypeInfo& row : block_type_table()) {
    if (row.fast == nullptr) continue;
    EXPECT_NE(row.fast_bf16, nullptr) << row.name;
    EXPECT_NE(row.fast_f16, nullptr) << row.name;
    EXPECT_TRUE(rc::check("fast equals scalar", [&row] { check_fast_equals_scalar(row); })) << row.name;
  }
}

// The types that have none are those that one instruction a value or one look-up serves as well.
TEST(FastPath, WhoHasOne) {
  std::vector<std::string_view> without;
  for (const BlockTypeInfo& row : block_type_table()) {
    if (row.fast == nullptr && row.scalar != nullptr) without.push_back(row.name);
  }
  EXPECT_EQ(without, (std::vector<std::string_view>{"I64", "BOOL", "U8", "U16", "U32", "U64", "F8_E4M3", "F8_E5M2",
                                                    "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ", "F4"}));
}

// All 65,536 upper halves of an f32 with lower halves on both sides of every tie of bf16 (bit 15) and f16 (bit 12, and
// higher ones where f16 is subnormal).
TEST(FastPath, RoundsEveryF32PatternLikeHalfH_E06) {
  std::vector<float> values;
  for (uint32_t upper = 0; upper < 65536; ++upper) {
    for (const uint32_t lower : {0x0000U, 0x0001U, 0x0FFFU, 0x1000U, 0x1001U, 0x7FFFU, 0x8000U, 0x8001U, 0xFFFFU}) {
      values.push_back(std::bit_cast<float>(upper << 16 | lower));
    }
  }
  const auto in = std::as_bytes(std::span(values));
  const auto bf16 = rounded(values, f32_to_bf16);
  const auto f16 = rounded(values, f32_to_f16);
  for_each_target([&](const std::string& target) {
    Halves got(values.size());
    quant::f32_bf16_fast(in, got);
    EXPECT_EQ(got, bf16) << target;
    quant::f32_f16_fast(in, got);
    EXPECT_EQ(got, f16) << target;
  });
}

TEST(FastPath, ConvertsEveryHalfLikeHalfH_E06) {
  Halves halves(65536);
  std::iota(halves.begin(), halves.end(), uint16_t{0});
  const auto in = std::as_bytes(std::span(halves));
  for (const BlockType type : {BlockType::kF16, BlockType::kBF16}) {
    const auto want = run(info(type).scalar, info(type), in);
    for_each_target([&](const std::string& target) {
      EXPECT_EQ(first_difference(run(info(type).fast, info(type), in), want, false), -1) << target;
      Halves got(halves.size());
      info(type).fast_bf16(in, got);
      EXPECT_EQ(got, rounded(want, f32_to_bf16)) << target;
      info(type).fast_f16(in, got);
      EXPECT_EQ(got, rounded(want, f32_to_f16)) << target;
    });
  }
}

// Doubles on both sides of every tie between two f32, of every f32 exponent and beyond it, subnormals, NaNs with
// payloads. The oracle is the compiler's conversion, which the twin is; a random f64 is almost never near a tie.
TEST(FastPath, RoundsF64AroundEveryTie) {
  std::vector<double> values;
  for (uint32_t exponent = 0; exponent <= 255; ++exponent)
    for (const uint32_t mantissa : {0U, 1U, 2U, 0x2AAAAAU, 0x3FFFFFU, 0x400000U, 0x7FFFFEU, 0x7FFFFFU}) {
      const auto base = std::bit_cast<uint64_t>(static_cast<double>(std::bit_cast<float>(exponent << 23 | mantissa)));
      const uint64_t tie = uint64_t{1} << 28;  // half of an f32's last place
      for (const uint64_t more : {uint64_t{0}, tie - 1, tie, tie + 1, tie * 2 - 1})
        for (const uint64_t sign : {uint64_t{0}, uint64_t{1} << 63})
          values.push_back(std::bit_cast<double>((base + more) | sign));
    }
  for (const double v :
       {0x1p-149, 0x1p-150, 0x1.000001p-150, 0x1.8p-149, 0x1p-151, 0x1p128, 0x1p1023, 0x1p-1074, 1e300})
    for (const double sign : {1.0, -1.0}) values.push_back(sign * v);
  const auto in = std::as_bytes(std::span(values));
  std::vector<float> want(values.size());
  std::transform(values.begin(), values.end(), want.begin(), [](double v) { return static_cast<float>(v); });
  for_each_target([&](const std::string& target) {
    EXPECT_EQ(first_difference(run(quant::f64_f32_fast, info(BlockType::kF64), in), want, false), -1) << target;
    Halves got(values.size());
    quant::f64_bf16_fast(in, got);
    EXPECT_EQ(got, rounded(want, f32_to_bf16)) << target;
    quant::f64_f16_fast(in, got);
    EXPECT_EQ(got, rounded(want, f32_to_f16)) << target;
  });
}

// What a caller sees, for all types: one step is as good as two. More than one piece of the types without a fast path.
TEST(DecodeHalves, EqualDecodingToF32AndRounding) {
  for (size_t i = 0; i < block_type_table().size(); ++i) {
    const auto type = static_cast<BlockType>(i);
    const BlockTypeInfo& row = info(type);
    if (!can_decode(type)) continue;
    SCOPED_TRACE(std::string(row.name));
    const auto elements = static_cast<size_t>(row.block_elements);
    const size_t blocks = 5120 / elements + 1;
    const auto raw = random_bytes(blocks * static_cast<size_t>(row.block_bytes), i);
    const auto in = std::as_bytes(std::span(raw));
    std::vector<float> values(blocks * elements);
    decode_f32(type, in, values);
    Halves got(values.size());
    decode_bf16(type, in, got);
    EXPECT_EQ(got, rounded(values, f32_to_bf16));
    decode_f16(type, in, got);
    EXPECT_EQ(got, rounded(values, f32_to_f16));
  }
}

}  // namespace
}  // namespace headrace
