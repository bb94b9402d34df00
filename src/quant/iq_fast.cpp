// The IQ types with grids, compiled once per instruction set and chosen at run time. Bit-equal to the scalar twins,
// which draw the blocks. Rows are looked up and signed eight bytes at a time in general registers.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/iq_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quant/codebooks.h"
#include "quant/fast_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

#if HR_SIMD
namespace {

constexpr uint64_t kOnes = 0x0101010101010101U;

// A grid's row, or two rows of four, as eight bytes.
template <size_t kRows, class T>
HWY_INLINE uint64_t row8(const Grid<T, kRows, 8>& grid, size_t i) {
  uint64_t row = 0;
  std::memcpy(&row, grid[i].data(), sizeof(row));
  return row;
}

template <size_t kRows>
HWY_INLINE uint64_t rows4(const Grid<uint8_t, kRows, 4>& grid, size_t i, size_t j) {
  uint32_t low = 0;
  uint32_t high = 0;
  std::memcpy(&low, grid[i].data(), sizeof(low));
  std::memcpy(&high, grid[j].data(), sizeof(high));
  return low | uint64_t{high} << 32;
}

HWY_INLINE void put8(uint64_t eight, int8_t* at) { std::memcpy(at, &eight, sizeof(eight)); }

// d * (0.5 + n) * factor, as the twins compute it.
HWY_INLINE float half_step(float d, unsigned n, float factor) { return d * (0.5F + static_cast<float>(n)) * factor; }

// The scales of IQ2_XS and IQ2_S: sixteen nibbles.
HWY_INLINE void nibble_scales(float d, const uint8_t* packed, float* scale) {
  for (size_t i = 0; i < 8; ++i) {
    scale[2 * i] = half_step(d, packed[i] & 15U, 0.25F);
    scale[2 * i + 1] = half_step(d, packed[i] >> 4U, 0.25F);
  }
}

struct Iq2Xxs : Geometry<66, 256, 32, iq2_xxs_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    float d = 0;
    if (!finite_half(in, d)) return false;
    for (size_t g = 0; g < 8; ++g) scale[g] = half_step(d, in[2 + g * 8 + 7] >> 4U, 0.25F);
    return true;
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    for (size_t g = 0; g < 8; ++g) {
      const uint8_t* const group = in + 2 + g * 8;
      const auto rest = load<uint32_t>(group + 4);
      for (size_t l = 0; l < 4; ++l) {
        put8(with_signs(row8(kIq2XxsGrid, group[l]), kEvenSignMasks[rest >> (7 * l) & 127U]), buffer + g * 32 + l * 8);
      }
    }
    return buffer;
  }
};

struct Iq2Xs : Geometry<74, 256, 16, iq2_xs_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    float d = 0;
    if (!finite_half(in, d)) return false;
    nibble_scales(d, in + 66, scale);
    return true;
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    for (size_t r = 0; r < 32; ++r) {
      const unsigned q = load<uint16_t>(in + 2 + r * 2);
      put8(with_signs(row8(kIq2XsGrid, q & 511U), kEvenSignMasks[q >> 9U]), buffer + r * 8);
    }
    return buffer;
  }
};

struct Iq2S : Geometry<82, 256, 16, iq2_s_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    float d = 0;
    if (!finite_half(in, d)) return false;
    nibble_scales(d, in + 74, scale);
    return true;
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    for (size_t r = 0; r < 32; ++r) {
      const unsigned high = in[66 + r / 4] >> (r % 4 * 2) & 3U;
      put8(with_signs(row8(kIq2SGrid, in[2 + r] | high << 8), kSignMasks[in[34 + r]]), buffer + r * 8);
    }
    return buffer;
  }
};

struct Iq3Xxs : Geometry<98, 256, 32, iq3_xxs_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    float d = 0;
    if (!finite_half(in, d)) return false;
    for (size_t g = 0; g < 8; ++g) scale[g] = half_step(d, in[66 + g * 4 + 3] >> 4U, 0.5F);
    return true;
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    for (size_t g = 0; g < 8; ++g) {
      const auto rest = load<uint32_t>(in + 66 + g * 4);
      for (size_t l = 0; l < 4; ++l) {
        const uint8_t* const q = in + 2 + g * 8 + l * 2;
        put8(with_signs(rows4(kIq3XxsGrid, q[0], q[1]), kEvenSignMasks[rest >> (7 * l) & 127U]),
             buffer + g * 32 + l * 8);
      }
    }
    return buffer;
  }
};

struct Iq3S : Geometry<110, 256, 32, iq3_s_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    float d = 0;
    if (!finite_half(in, d)) return false;
    const auto nibbles = load<uint32_t>(in + 106);
    for (size_t g = 0; g < 8; ++g) scale[g] = d * static_cast<float>(1 + 2 * (nibbles >> (g * 4) & 15U));
    return true;
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    for (size_t l = 0; l < 32; ++l) {
      const uint8_t* const q = in + 2 + l * 2;
      const unsigned high = in[66 + l / 4] >> (l % 4 * 2);
      put8(with_signs(rows4(kIq3SGrid, q[0] | (high & 1U) << 8, q[1] | (high & 2U) << 7), kSignMasks[in[74 + l]]),
           buffer + l * 8);
    }
    return buffer;
  }
};

// Both IQ1 types: the codes are eight times row + delta, the scales an eighth of theirs, so that all products round
// alike. The grid's bytes are 0 to 2, one more than the row's elements: no byte borrows from the next.
HWY_INLINE uint64_t iq1_codes(size_t i, bool is_negative) {
  const uint64_t offset = is_negative ? kOnes * 9 : kOnes * 7;
  return ((row8(kIq1Grid, i) << 3 | kOnes << 7) - offset) ^ kOnes << 7;
}

struct Iq1S : Geometry<50, 256, 32, iq1_s_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    float d = 0;
    if (!finite_half(in, d)) return false;
    for (size_t g = 0; g < 8; ++g) {
      const unsigned three_bits = in[34 + g * 2 + 1] >> 4 & 7U;
      scale[g] = d * static_cast<float>(2 * three_bits + 1) * 0.125F;
    }
    return true;
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    for (size_t g = 0; g < 8; ++g) {
      const unsigned qh = load<uint16_t>(in + 34 + g * 2);
      for (size_t l = 0; l < 4; ++l) {
        const unsigned high = qh >> (3 * l) & 7U;
        put8(iq1_codes(in[2 + g * 4 + l] | high << 8, (qh & 0x8000U) != 0), buffer + g * 32 + l * 8);
      }
    }
    return buffer;
  }
};

struct Iq1M : Geometry<56, 256, 16, iq1_m_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    const auto packed = load<uint64_t>(in + 48);
    const uint64_t bits =
        (packed >> 12 & 0xFU) | (packed >> 24 & 0xF0U) | (packed >> 36 & 0xF00U) | (packed >> 48 & 0xF000U);
    const auto half = static_cast<uint16_t>(bits);
    const float d = widen_half(half);
    for (size_t k = 0; k < 16; ++k) {
      const auto three_bits = static_cast<unsigned>(packed >> (k / 4 * 16 + k % 4 * 3)) & 7U;
      scale[k] = d * static_cast<float>(2 * three_bits + 1) * 0.125F;
    }
    return !f16_is_special(half);
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    for (size_t r = 0; r < 32; ++r) {
      const unsigned nibble = in[32 + r / 2] >> (r % 2 * 4);
      put8(iq1_codes(in[r] | (nibble & 7U) << 8, (nibble & 8U) != 0), buffer + r * 8);
    }
    return buffer;
  }
};

}  // namespace
#endif

HR_FAST_TARGET(iq1_s, Iq1S)
HR_FAST_TARGET(iq1_m, Iq1M)
HR_FAST_TARGET(iq2_xxs, Iq2Xxs)
HR_FAST_TARGET(iq2_xs, Iq2Xs)
HR_FAST_TARGET(iq2_s, Iq2S)
HR_FAST_TARGET(iq3_xxs, Iq3Xxs)
HR_FAST_TARGET(iq3_s, Iq3S)

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HR_FAST(iq1_s)
HR_FAST(iq1_m)
HR_FAST(iq2_xxs)
HR_FAST(iq2_xs)
HR_FAST(iq2_s)
HR_FAST(iq3_xxs)
HR_FAST(iq3_s)

}  // namespace headrace::quant
#endif
