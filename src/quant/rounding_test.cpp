#include "quant/rounding.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/half.h"
#include "base/npy.h"
#include "base/testing.h"

namespace headrace {
namespace {

using quant::RoundF32;

float from_bits(uint32_t bits) { return std::bit_cast<float>(bits); }

struct Pair {
  std::string_view name;
  RoundF32 fast{};
  RoundF32 scalar{};
};
constexpr Pair kPairs[] = {
    {.name = "bf16", .fast = quant::round_to_bf16, .scalar = quant::round_to_bf16_scalar},
    {.name = "f16", .fast = quant::round_to_f16, .scalar = quant::round_to_f16_scalar},
};

struct Outcome {
  std::vector<uint16_t> halves;
  RoundingLoss loss;
  friend bool operator==(const Outcome&, const Outcome&) = default;
};

Outcome run(RoundF32 round, std::span<const float> in) {
  Outcome out{.halves = std::vector<uint16_t>(in.size(), 0xABCD), .loss = {}};
  round(in, out.halves, out.loss);
  return out;
}

// Runs `body` once for every instruction set of this machine.
template <class Body>
void for_each_target(const Body& body) {
  for (int64_t rest = hwy::SupportedTargets(); rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(std::string(hwy::TargetName(rest & -rest)));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

// Every sign, exponent and upper mantissa with the lower halves at which either rounding changes its mind: the ends,
// the ties of bf16 (bit 15) and of f16 (bit 12) and their neighbours, and one bit for each place of an f16 subnormal's
// tie.
std::vector<float> all_upper_halves(uint32_t first, uint32_t end) {
  std::vector<uint32_t> lower{0, 0xFFFF, 0x7FFF, 0x8001, 0x0FFF, 0x1001, 0x1FFF, 0x2FFF, 0x3000, 0x3001};
  for (uint32_t bit = 1; bit < 0x10000; bit <<= 1U) lower.push_back(bit);
  std::vector<float> out;
  for (uint32_t upper = first; upper < end; ++upper)
    for (const uint32_t low : lower) out.push_back(from_bits(upper << 16U | low));
  return out;
}

TEST(Rounding, SimdIsTheScalarTwinAroundEveryBoundary) {
  constexpr uint32_t kStep = 1024;
  for (uint32_t first = 0; first < 65536; first += kStep) {
    const auto in = all_upper_halves(first, first + kStep);
    for (const Pair& pair : kPairs) {
      const Outcome want = run(pair.scalar, in);
      for_each_target([&](const std::string& target) {
        const Outcome got = run(pair.fast, in);
        ASSERT_EQ(got.halves, want.halves) << pair.name << " " << target << " from " << first;
        ASSERT_EQ(got.loss, want.loss) << pair.name << " " << target << " from " << first;
      });
    }
  }
}

// All of them take half a minute: HEADRACE_EXHAUSTIVE=1 asks for it.
TEST(Rounding, SimdIsTheScalarTwinOnEveryF32) {
  if (std::getenv("HEADRACE_EXHAUSTIVE") == nullptr) GTEST_SKIP() << "HEADRACE_EXHAUSTIVE is not set";
  std::vector<float> in(1U << 20U);
  for (uint64_t first = 0; first < uint64_t{1} << 32U; first += in.size()) {
    for (size_t i = 0; i < in.size(); ++i) in[i] = from_bits(static_cast<uint32_t>(first + i));
    for (const Pair& pair : kPairs) ASSERT_EQ(run(pair.fast, in), run(pair.scalar, in)) << pair.name << " " << first;
  }
}

TEST(Rounding, OddLengthsAndUnalignedRunsAddUp) {
  const auto in = all_upper_halves(0x3F00, 0x3F10);
  for (const Pair& pair : kPairs) {
    const Outcome whole = run(pair.scalar, in);
    for (const size_t cut : {size_t{0}, size_t{1}, size_t{7}, size_t{15}, size_t{17}, size_t{33}, in.size()}) {
      Outcome parts = run(pair.fast, std::span(in).first(cut));
      const Outcome rest = run(pair.fast, std::span(in).subspan(cut));
      parts.halves.insert(parts.halves.end(), rest.halves.begin(), rest.halves.end());
      parts.loss.add(rest.loss);
      EXPECT_EQ(parts, whole) << pair.name << " " << cut;
    }
  }
}

TEST(Rounding, LossCountsWhatChangedAndWhatOverflowed) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  const std::vector<float> in{1.F,
                              -0.F,
                              1.F + 0x1p-9F,
                              -3e5F,
                              65519.F,
                              65520.F,
                              kInf,
                              -kInf,
                              from_bits(0x7F800001),
                              from_bits(0xFFFFFFFF),
                              0x1p-26F,
                              3.4e38F};
  for (const RoundF32 round : {quant::round_to_f16, quant::round_to_f16_scalar}) {
    const Outcome f16 = run(round, in);
    // 1 + 2^-9 fits f16; of the large ones only 65519 stays finite, 15 away from 65504.
    EXPECT_EQ(f16.loss, (RoundingLoss{.inexact = 5, .overflowed = 3, .largest_error = 15}));
    EXPECT_EQ(f16.halves, (std::vector<uint16_t>{0x3C00, 0x8000, 0x3C02, 0xFC00, 0x7BFF, 0x7C00, 0x7C00, 0xFC00, 0x7E00,
                                                 0xFFFF, 0x0000, 0x7C00}));
  }
  for (const RoundF32 round : {quant::round_to_bf16, quant::round_to_bf16_scalar}) {
    const Outcome bf16 = run(round, in);
    // 3e5 = 0x48927C00 goes to 0x4892 = 299008; 65519 and 65520 to 65536; 3.4e38 is beyond the middle to 2^128.
    EXPECT_EQ(bf16.loss, (RoundingLoss{.inexact = 5, .overflowed = 1, .largest_error = 992}));
    EXPECT_EQ(bf16.halves[3], 0xC892);
    EXPECT_EQ(bf16.halves[8], 0x7FC0);
    EXPECT_EQ(bf16.halves[11], 0x7F80);
  }
}

// Values, their bf16 by ml_dtypes and their f16 by numpy (testdata/quants/make_rounding.py). Of NaNs only that they are
// NaN: which payload survives is up to each library.
TEST(Rounding, EqualsNumpyAndMlDtypes) {
  const auto load = [](const std::string& name) {
    return read_npy(std::string(HEADRACE_TESTDATA) + "/quants/rounding." + name + ".npy");
  };
  ASSERT_OK_AND_ASSIGN(const NpyArray values, load("f32"));
  std::vector<float> in(values.bytes.size() / sizeof(float));
  std::memcpy(in.data(), values.bytes.data(), values.bytes.size());
  ASSERT_GT(in.size(), 4000U);
  for (const Pair& pair : kPairs) {
    ASSERT_OK_AND_ASSIGN(const NpyArray golden, load(std::string(pair.name)));
    std::vector<uint16_t> want(golden.bytes.size() / sizeof(uint16_t));
    std::memcpy(want.data(), golden.bytes.data(), golden.bytes.size());
    ASSERT_EQ(want.size(), in.size());
    const Outcome got = run(pair.fast, in);
    const uint16_t infinity = pair.name == "f16" ? 0x7C00 : 0x7F80;
    for (size_t i = 0; i < in.size(); ++i) {
      if (std::isnan(in[i])) {
        EXPECT_GT(got.halves[i] & 0x7FFFU, infinity) << i;
      } else {
        EXPECT_EQ(got.halves[i], want[i]) << pair.name << " of " << in[i];
      }
    }
  }
}

}  // namespace
}  // namespace headrace
