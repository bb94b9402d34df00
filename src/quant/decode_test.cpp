#include "quant/decode.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/half.h"
#include "quant/block_type.h"

namespace headrace {
namespace {

using Bytes = std::vector<std::byte>;

// The data of a version 1.0 .npy file; these are all little-endian and in C order.
template <class T>
std::vector<T> read_npy(const std::string& name) {
  std::ifstream file(std::string(HEADRACE_TESTDATA) + "/quants/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  const size_t start = 10 + static_cast<unsigned char>(bytes.at(8)) + 256U * static_cast<unsigned char>(bytes.at(9));
  std::vector<T> out((bytes.size() - start) / sizeof(T));
  std::memcpy(out.data(), bytes.data() + start, out.size() * sizeof(T));
  return out;
}

std::vector<float> run(DecodeF32 decode, const BlockTypeInfo& row, std::span<const std::byte> in) {
  const size_t blocks = in.size() / static_cast<size_t>(row.block_bytes);
  std::vector<float> out(blocks * static_cast<size_t>(row.block_elements), -99.F);
  decode(in, out);
  return out;
}

// Index of the first element whose bits differ, or -1. Of NaNs only that both are NaN where `any_nan`.
ptrdiff_t first_difference(const std::vector<float>& a, const std::vector<float>& b, bool any_nan) {
  if (a.size() != b.size()) return std::numeric_limits<ptrdiff_t>::max();
  for (size_t i = 0; i < a.size(); ++i) {
    if (any_nan && std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) return static_cast<ptrdiff_t>(i);
  }
  return -1;
}

// Runs `body` once for every instruction set of this machine.
template <class Body>
void for_each_target(const Body& body) {
  const int64_t all = hwy::SupportedTargets();
  for (int64_t rest = all; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(std::string(hwy::TargetName(rest & -rest)));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

class Golden : public ::testing::TestWithParam<std::string> {};

TEST_P(Golden, EqualsTheOracle) {
  const std::string file = GetParam();
  const std::string type_name = file.substr(file.find('.') + 1);  // "special.Q4_0" and "Q4_0" are both Q4_0
  const auto raw = read_npy<std::byte>(file + ".raw.npy");
  const auto want = read_npy<float>(file + ".f32.npy");
  ASSERT_FALSE(want.empty());
  for (const BlockTypeInfo& row : block_type_table()) {
    if (row.name != type_name) continue;
    const bool any_nan = !row.plain.has_value();
    EXPECT_EQ(first_difference(run(row.scalar, row, raw), want, any_nan), -1);
    if (row.fast == nullptr) continue;
    for_each_target([&](const std::string& target) {
      EXPECT_EQ(first_difference(run(row.fast, row, raw), want, any_nan), -1) << target;
    });
  }
}

std::vector<std::string> golden_files() {
  std::vector<std::string> out = {"BF16"};
  for (const BlockTypeInfo& row : block_type_table()) {
    const std::string type(row.name);
    if (type == "F32" || row.scalar == nullptr) continue;
    out.push_back("special." + type);
    if (row.plain || row.gguf_id == kNoGgufId || type == "Q8_1" || type == "Q8_K" || type == "Q1_0" || type == "Q2_0")
      continue;  // no other oracle
    out.push_back(type);
    const bool has_grid = type.starts_with("IQ") && !type.starts_with("IQ4");
    if (has_grid) out.push_back("grid." + type);
  }
  return out;
}

INSTANTIATE_TEST_SUITE_P(Quants, Golden, ::testing::ValuesIn(golden_files()));

// walk.<type>: what flipping each bit of a block changes, and with it the place and meaning of every bit that is not of
// an f16 scale. The block with the flipped bit is the second of two, so that a wrong stride shows as well.
// Values that bug reports give.
TEST(SmallFloats, AreWhatTheirSpecificationsSay_C08) {
  const auto value = [](BlockType type, uint8_t code) {
    const auto row = info(type);
    return run(row.scalar, row, std::vector{std::byte{code}}).front();
  };
  EXPECT_EQ(value(BlockType::kF8_E4M3, 0x7E), 448.F);
  EXPECT_TRUE(std::isnan(value(BlockType::kF8_E4M3, 0x7F)));
  EXPECT_EQ(value(BlockType::kF8_E4M3, 0x01), 0x1p-9F);
  EXPECT_EQ(value(BlockType::kF8_E5M2, 0x7B), 57344.F);
  EXPECT_EQ(value(BlockType::kF8_E8M0, 0x00), 0x1p-127F);
  EXPECT_EQ(value(BlockType::kF8_E8M0, 0x80), 2.F);
  const auto two = run(info(BlockType::kF4).scalar, info(BlockType::kF4), std::vector{std::byte{0xA7}});
  EXPECT_EQ(two, (std::vector{6.F, -1.F})) << "the low nibble comes first";
}

class BitWalk : public ::testing::TestWithParam<std::string> {};

void check_walk(DecodeF32 decode, const BlockTypeInfo& row) {
  const std::string stem = "walk." + std::string(row.name);
  const auto base = read_npy<std::byte>(stem + ".raw.npy");
  const auto changes = read_npy<std::array<int16_t, 3>>(stem + ".i16.npy");
  ASSERT_EQ(base.size(), static_cast<size_t>(row.block_bytes));
  const auto before = run(decode, row, base);
  size_t bits = 0;
  for (size_t i = 0; i < changes.size(); ++bits) {
    const auto bit = static_cast<size_t>(changes[i][0]);
    Bytes two = base;
    two.insert(two.end(), base.begin(), base.end());
    two[base.size() + bit / 8] ^= std::byte{1} << (bit % 8);
    auto want = before;
    want.insert(want.end(), before.begin(), before.end());
    for (; i < changes.size() && static_cast<size_t>(changes[i][0]) == bit; ++i) {
      want[before.size() + static_cast<size_t>(changes[i][1])] = changes[i][2];
    }
    const auto got = run(decode, row, two);
    // By value: the rows do not tell the zeros apart, which Golden does.
    for (size_t j = 0; j < want.size(); ++j) ASSERT_EQ(got[j], want[j]) << "bit " << bit << ", element " << j;
  }
  const size_t in_scales = base.size() * 8 - bits;
  EXPECT_TRUE(in_scales == 16 || in_scales == 32) << in_scales << " bits are in no row";
}

TEST_P(BitWalk, EveryBitDoesWhatGgufPySays_E05) {
  for (const BlockTypeInfo& row : block_type_table()) {
    if (row.name != GetParam()) continue;
    check_walk(row.scalar, row);
    if (row.fast == nullptr) continue;
    for_each_target([&](const std::string& target) {
      SCOPED_TRACE(target);
      check_walk(row.fast, row);
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Quants, BitWalk,
                         ::testing::Values("Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"));

template <class... T>
Bytes bytes(T... values) {
  return {static_cast<std::byte>(values)...};
}

TEST(Q4_1, HeaderIsFourBytes_E01) {
  const Bytes block = bytes(0x00, 0x38, 0x00, 0xBC, 0xF0, 0xE1, 0xD2, 0xC3, 0xB4, 0xA5, 0x96, 0x87, 0x78, 0x69, 0x5A,
                            0x4B, 0x3C, 0x2D, 0x1E, 0x0F);
  for (const DecodeF32 decode : {quant::q4_1_scalar, quant::q4_1_f32_fast}) {
    const auto y = run(decode, info(BlockType::kQ4_1), block);
    for (size_t j = 0; j < 16; ++j) {
      EXPECT_EQ(y[j], -1.F + 0.5F * static_cast<float>(j));
      EXPECT_EQ(y[j + 16], 6.5F - 0.5F * static_cast<float>(j));
    }
  }
}

TEST(Q4_0, NibblesAreOffsetBinary_E03) {
  Bytes block = bytes(0x00, 0x3C);
  for (int j = 0; j < 8; ++j) {
    block.push_back(std::byte{0x0F});
    block.push_back(std::byte{0xF0});
  }
  block[17] = std::byte{0x88};
  const auto y = run(quant::q4_0_scalar, info(BlockType::kQ4_0), block);
  EXPECT_EQ(y[0], 7.F);
  EXPECT_EQ(y[16], -8.F);
  EXPECT_EQ(y[1], -8.F);
  EXPECT_EQ(y[17], 7.F);
  EXPECT_EQ(y[15], 0.F);
  EXPECT_EQ(y[31], 0.F);
}

TEST(Q8_0, SecondBlockStartsAfter34Bytes_E05) {
  Bytes blocks(68);
  for (size_t b = 0; b < 2; ++b) {
    blocks[b * 34 + 1] = std::byte{b == 0 ? uint8_t{0x3C} : uint8_t{0xC0}};  // d = 1, then -2
    for (size_t j = 0; j < 32; ++j) blocks[b * 34 + 2 + j] = static_cast<std::byte>(j * 8 + b);
  }
  for (const DecodeF32 decode : {quant::q8_0_scalar, quant::q8_0_f32_fast}) {
    const auto y = run(decode, info(BlockType::kQ8_0), blocks);
    for (size_t j = 0; j < 32; ++j) {
      EXPECT_EQ(y[j], static_cast<float>(static_cast<int8_t>(j * 8)));
      EXPECT_EQ(y[32 + j], -2.F * static_cast<float>(static_cast<int8_t>(j * 8 + 1)));
    }
  }
}

// Element n lies in byte 32 * (n / 128) + n % 32, two bits at 2 * (n % 128 / 32); the scale, after the codes,
// multiplies.
TEST(Tq2_0, PlanesOf32_E04) {
  Bytes block(66);
  block[0] = std::byte{0b11100100};
  block[65] = std::byte{0x40};  // d = 2
  for (const DecodeF32 decode : {quant::tq2_0_scalar, quant::tq2_0_f32_fast}) {
    const auto y = run(decode, info(BlockType::kTQ2_0), block);
    EXPECT_EQ((std::vector<float>{y[0], y[32], y[64], y[96]}), (std::vector<float>{-2, 0, 2, 4}));
    for (const size_t other : {1, 31, 33, 127, 128, 160, 255}) EXPECT_EQ(y[other], -2.F) << other;
  }
}

TEST(Plain, AllHalvesWidenLikeHalfH_E06) {
  std::vector<uint16_t> halves(65536);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i);
  const auto raw = std::as_bytes(std::span(halves));
  const auto f16 = run(quant::f16_scalar, info(BlockType::kF16), raw);
  const auto bf16 = run(quant::bf16_scalar, info(BlockType::kBF16), raw);
  for (size_t i = 0; i < halves.size(); ++i) {
    ASSERT_EQ(std::bit_cast<uint32_t>(f16[i]), std::bit_cast<uint32_t>(f16_to_f32(halves[i]))) << i;
    ASSERT_EQ(std::bit_cast<uint32_t>(bf16[i]), static_cast<uint32_t>(i) << 16) << i;
  }
}

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
