// Floats of eight bits and fewer, each on its own: no scale belongs to a block, whoever made the file has put it into
// another tensor. From the most significant bit: sign, exponent, mantissa.
//   F8_E4M3       bias 7; S.1111.111 is NaN, there is no infinity: up to 448
//   F8_E5M2       bias 15, as the upper byte of an f16: infinities and NaNs
//   F8_E8M0       an exponent alone: 2^(code - 127); 255 is NaN
//   F8_E4M3FNUZ   bias 8; 0x80 is the only NaN, no infinity, no negative zero
//   F8_E5M2FNUZ   bias 16; the same
//   F4            E2M1, bias 1, no specials: 0 0.5 1 1.5 2 3 4 6. Two in a byte, the first in the low nibble.
// Sources: OCP 8-bit floating point specification 1.0; OCP microscaling formats 1.0 (E8M0, E2M1); Noune et al. 2022
// (FNUZ). The order of nibbles is that of PyTorch's float4_e2m1fn_x2, the type that safetensors reads F4 as.
#include <array>
#include <bit>
#include <limits>

#include "quant/decode.h"

namespace headrace::quant {

namespace {

enum class Specials : uint8_t { kNone, kIeee, kAllOnesIsNan, kNegativeZeroIsNan };

struct Layout {
  int exponent_bits{}, mantissa_bits{}, bias{};
  Specials specials{};
};

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// 2^power of a power that an f32 can hold exactly, subnormals included.
constexpr float power_of_two(int power) {
  return std::bit_cast<float>(power >= -126 ? static_cast<uint32_t>(power + 127) << 23U : 1U << (power + 149));
}

constexpr float value_of(Layout layout, uint32_t code) {
  const uint32_t mantissa_ones = (1U << layout.mantissa_bits) - 1;
  const uint32_t exponent_ones = (1U << layout.exponent_bits) - 1;
  const uint32_t mantissa = code & mantissa_ones;
  const uint32_t exponent = code >> layout.mantissa_bits & exponent_ones;
  const bool negative = code >> (layout.mantissa_bits + layout.exponent_bits) != 0;
  if (layout.specials == Specials::kNegativeZeroIsNan && negative && exponent == 0 && mantissa == 0) return kNan;
  if (layout.specials == Specials::kAllOnesIsNan && exponent == exponent_ones && mantissa == mantissa_ones) return kNan;
  float size = 0;
  if (layout.specials == Specials::kIeee && exponent == exponent_ones) {
    if (mantissa != 0) return kNan;
    size = std::numeric_limits<float>::infinity();
  } else {
    // A normal number's leading one is not stored; exponent 0 counts as 1 without it.
    const uint32_t digits = exponent == 0 ? mantissa : mantissa | 1U << layout.mantissa_bits;
    const int power = (exponent == 0 ? 1 : static_cast<int>(exponent)) - layout.bias - layout.mantissa_bits;
    size = static_cast<float>(digits) * power_of_two(power);
  }
  return negative ? -size : size;
}

constexpr std::array<float, 256> table_of(Layout layout) {
  std::array<float, 256> values{};
  const uint32_t codes = 1U << (1 + layout.exponent_bits + layout.mantissa_bits);
  for (uint32_t code = 0; code < codes; ++code) values[code] = value_of(layout, code);
  return values;
}

constexpr auto kE4M3 = table_of({4, 3, 7, Specials::kAllOnesIsNan});
constexpr auto kE5M2 = table_of({5, 2, 15, Specials::kIeee});
constexpr auto kE4M3Fnuz = table_of({4, 3, 8, Specials::kNegativeZeroIsNan});
constexpr auto kE5M2Fnuz = table_of({5, 2, 16, Specials::kNegativeZeroIsNan});
constexpr auto kE2M1 = table_of({2, 1, 1, Specials::kNone});
constexpr auto kE8M0 = [] {
  std::array<float, 256> values{};
  for (int code = 0; code < 255; ++code) values[static_cast<size_t>(code)] = power_of_two(code - 127);
  values[255] = kNan;
  return values;
}();

void look_up(const std::array<float, 256>& values, std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = values[std::to_integer<size_t>(in[i])];
}

}  // namespace

void f8_e4m3_scalar(std::span<const std::byte> in, std::span<float> out) { look_up(kE4M3, in, out); }
void f8_e5m2_scalar(std::span<const std::byte> in, std::span<float> out) { look_up(kE5M2, in, out); }
void f8_e8m0_scalar(std::span<const std::byte> in, std::span<float> out) { look_up(kE8M0, in, out); }
void f8_e4m3fnuz_scalar(std::span<const std::byte> in, std::span<float> out) { look_up(kE4M3Fnuz, in, out); }
void f8_e5m2fnuz_scalar(std::span<const std::byte> in, std::span<float> out) { look_up(kE5M2Fnuz, in, out); }

void f4_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size(); ++i) {
    const auto both = std::to_integer<size_t>(in[i]);
    out[2 * i] = kE2M1[both & 15U];
    out[2 * i + 1] = kE2M1[both >> 4U];
  }
}

}  // namespace headrace::quant
