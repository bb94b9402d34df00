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
#include "quant/decode_testing.h"

namespace headrace {
namespace {

using testing::first_difference;
using testing::for_each_target;
using testing::run;

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

}  // namespace
}  // namespace headrace
