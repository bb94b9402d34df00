// The fixed tables of ggml's non-linear block types: the grids of the IQ types, rows of eight or four small integers
// that one index stands for, and the sixteen values of a four-bit code. All are part of the formats.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace headrace::quant {

template <class T, size_t kRows, size_t kColumns>
using Grid = std::array<std::array<T, kColumns>, kRows>;

extern const Grid<uint8_t, 256, 8> kIq2XxsGrid;  // 8, 25, 43
extern const Grid<uint8_t, 512, 8> kIq2XsGrid;
extern const Grid<uint8_t, 1024, 8> kIq2SGrid;
extern const Grid<uint8_t, 256, 4> kIq3XxsGrid;  // 4, 12, 20, 28, 36, 44, 52, 62
extern const Grid<uint8_t, 512, 4> kIq3SGrid;    // 1, 3, 5, 7, 9, 11, 13, 15
extern const Grid<uint8_t, 2048, 8> kIq1Grid;    // 0, 1, 2: one more than the elements are

// What IQ1 adds to or takes from every element of a grid's row.
inline constexpr float kIq1Delta = 0.125F;

// Eight signs from seven bits, bit j set where element j is negative: the eighth makes their number even.
[[nodiscard]] constexpr unsigned even_signs(unsigned seven_bits) {
  return seven_bits | (static_cast<unsigned>(std::popcount(seven_bits)) & 1U) << 7;
}

// 0xFF in byte j where element j is negative, else 0: by all eight signs, and by the seven of even_signs.
extern const std::array<uint64_t, 256> kSignMasks;
extern const std::array<uint64_t, 128> kEvenSignMasks;

// Eight positive bytes with signs: negative where the mask is set.
[[nodiscard]] constexpr uint64_t with_signs(uint64_t bytes, uint64_t mask) {
  return (bytes ^ mask) + (mask & 0x0101010101010101U);  // no byte becomes 0, so that none carries into the next
}

// +1 or -1 for element j.
[[nodiscard]] constexpr float sign_of(unsigned signs, size_t j) { return (signs >> j & 1U) != 0 ? -1.F : 1.F; }

// IQ4_NL and IQ4_XS.
inline constexpr std::array<int8_t, 16> kIq4Values = {-127, -104, -83, -65, -49, -35, -22, -10,
                                                      1,    13,   25,  38,  53,  69,  89,  113};

// MXFP4 and NVFP4: E2M1 doubled, so that all are integers. There is no negative zero. Scales are halved in return.
inline constexpr std::array<int8_t, 16> kFp4Values = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};

// Half of an E8M0 scale: 2^(bits - 128). ggml has no NaN here: 255 is 2^127.
[[nodiscard]] constexpr float e8m0_half(uint8_t bits) {
  return std::bit_cast<float>(bits < 2 ? 0x00200000U << bits : static_cast<uint32_t>(bits - 1) << 23);
}

// Half of an unsigned E4M3 scale of bias 7. ggml takes 0x7F (NaN elsewhere) as zero and ignores the upper bit
// otherwise.
[[nodiscard]] constexpr float ue4m3_half(uint8_t bits) {
  const uint32_t exponent = (bits >> 3) & 15U;
  const uint32_t mantissa = bits & 7U;
  if (bits == 0x7F) return 0.F;
  if (exponent == 0) return static_cast<float>(mantissa) * 0x1p-10F;
  return std::bit_cast<float>((exponent + 119) << 23 | mantissa << 20);
}

}  // namespace headrace::quant
