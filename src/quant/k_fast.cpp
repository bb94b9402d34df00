// K-quants by SIMD, compiled once per instruction set and chosen at run time. Bit-equal to the scalar twins, which draw
// the blocks.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/k_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quant/fast_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

#if HR_SIMD
namespace {

// scale[i] = d * bytes[i] for 8 or 16 small scales that come packed in words.
template <class Byte, size_t kWords>
HWY_INLINE void scale_bytes(float d, const uint64_t (&words)[kWords], float* scale) {
  const hn::Rebind<Byte, F32> small;
  const auto* const bytes = reinterpret_cast<const Byte*>(words);
  for (size_t i = 0; i < kWords * 8; i += hn::Lanes(F32())) {
    const auto whole = hn::ConvertTo(F32(), hn::PromoteTo(I32(), hn::LoadU(small, bytes + i)));
    hn::StoreU(hn::Mul(hn::Set(F32(), d), whole), F32(), scale + i);
  }
}

HWY_INLINE uint64_t join(uint32_t low, uint32_t high) { return low | uint64_t{high} << 32; }

// The scales and mins of Q4_K and Q5_K, as k_scales.h draws them, four at a time. The mins are subtracted.
HWY_INLINE void six_bit_scales(const uint8_t* packed, float d, float dmin, float* scale, float* min) {
  const auto scales = load<uint32_t>(packed);
  const auto mins = load<uint32_t>(packed + 4);
  const auto rest = load<uint32_t>(packed + 8);
  const uint64_t s[1] = {join(scales & 0x3F3F3F3FU, (rest & 0x0F0F0F0FU) | (scales >> 6 & 0x03030303U) << 4)};
  const uint64_t m[1] = {join(mins & 0x3F3F3F3FU, (rest >> 4 & 0x0F0F0F0FU) | (mins >> 6 & 0x03030303U) << 4)};
  scale_bytes<uint8_t>(d, s, scale);
  scale_bytes<uint8_t>(-dmin, m, min);
}

// Bits kShift, kShift + 1 of each of 32 bytes.
template <int kShift, class V>
HWY_INLINE V two_bits(V bytes) {
  return hn::And(hn::ShiftRight<kShift>(bytes), hn::Set(Bytes32(), uint8_t{3}));
}

struct Q2K : Geometry<84, 256, 16, q2_k_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale, float* min) {
    float d = 0;
    float dmin = 0;
    if (!(finite_half(in + 80, d) && finite_half(in + 82, dmin))) return false;
    constexpr uint64_t kLow = 0x0F0F0F0F0F0F0F0FU;
    const uint64_t packed[2] = {load<uint64_t>(in), load<uint64_t>(in + 8)};
    const uint64_t s[2] = {packed[0] & kLow, packed[1] & kLow};
    const uint64_t m[2] = {packed[0] >> 4 & kLow, packed[1] >> 4 & kLow};
    scale_bytes<uint8_t>(d, s, scale);
    scale_bytes<uint8_t>(-dmin, m, min);
    return true;
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    auto* out = reinterpret_cast<uint8_t*>(buffer);
    for (size_t half = 0; half < 2; ++half, out += 128) {
      for (size_t l = 0; l < 32; l += hn::Lanes(Bytes32())) {
        const auto q = hn::LoadU(Bytes32(), in + 16 + half * 32 + l);
        hn::StoreU(two_bits<0>(q), Bytes32(), out + l);
        hn::StoreU(two_bits<2>(q), Bytes32(), out + 32 + l);
        hn::StoreU(two_bits<4>(q), Bytes32(), out + 64 + l);
        hn::StoreU(two_bits<6>(q), Bytes32(), out + 96 + l);
      }
    }
    return buffer;
  }
};

struct Q3K : Geometry<110, 256, 16, q3_k_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    float d = 0;
    if (!finite_half(in + 108, d)) return false;
    const auto low = load<uint64_t>(in + 96);
    const auto high = load<uint32_t>(in + 104);
    constexpr uint64_t kLow = 0x0F0F0F0F0F0F0F0FU;
    constexpr uint32_t kTwo = 0x30303030U;
    // 32 less, byte by byte: no byte has its upper bit set, so that none borrows from the next.
    const auto signed_six = [](uint64_t six) {
      return ((six | 0x8080808080808080U) - 0x2020202020202020U) ^ 0x8080808080808080U;
    };
    const uint64_t s[2] = {signed_six((low & kLow) | join(high << 4 & kTwo, high << 2 & kTwo)),
                           signed_six((low >> 4 & kLow) | join(high & kTwo, high >> 2 & kTwo))};
    scale_bytes<int8_t>(d, s, scale);
    return true;
  }

  // Bits 2k, 2k + 1 of q, less four where bit `mask` of high is not set.
  template <int kShift, class V>
  static HWY_INLINE auto code(V q, V high, uint8_t mask) {
    const auto is_clear = hn::Eq(hn::And(high, hn::Set(Bytes32(), mask)), hn::Zero(Bytes32()));
    return hn::Sub(two_bits<kShift>(q), hn::IfThenElseZero(is_clear, hn::Set(Bytes32(), uint8_t{4})));
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    auto* out = reinterpret_cast<uint8_t*>(buffer);
    for (size_t half = 0; half < 2; ++half, out += 128) {
      const auto mask = static_cast<uint8_t>(1U << (half * 4));
      for (size_t l = 0; l < 32; l += hn::Lanes(Bytes32())) {
        const auto high = hn::LoadU(Bytes32(), in + l);
        const auto q = hn::LoadU(Bytes32(), in + 32 + half * 32 + l);
        hn::StoreU(code<0>(q, high, mask), Bytes32(), out + l);
        hn::StoreU(code<2>(q, high, static_cast<uint8_t>(mask << 1)), Bytes32(), out + 32 + l);
        hn::StoreU(code<4>(q, high, static_cast<uint8_t>(mask << 2)), Bytes32(), out + 64 + l);
        hn::StoreU(code<6>(q, high, static_cast<uint8_t>(mask << 3)), Bytes32(), out + 96 + l);
      }
    }
    return buffer;
  }
};

struct Q4K : Geometry<144, 256, 32, q4_k_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale, float* min) {
    float d = 0;
    float dmin = 0;
    if (!(finite_half(in, d) && finite_half(in + 2, dmin))) return false;
    six_bit_scales(in + 4, d, dmin, scale, min);
    return true;
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    auto* out = reinterpret_cast<uint8_t*>(buffer);
    const auto low_nibble = hn::Set(Bytes32(), uint8_t{15});
    for (size_t pair = 0; pair < 4; ++pair, out += 64) {
      for (size_t l = 0; l < 32; l += hn::Lanes(Bytes32())) {
        const auto q = hn::LoadU(Bytes32(), in + 16 + pair * 32 + l);
        hn::StoreU(hn::And(q, low_nibble), Bytes32(), out + l);
        hn::StoreU(hn::ShiftRight<4>(q), Bytes32(), out + 32 + l);
      }
    }
    return buffer;
  }
};

struct Q5K : Geometry<176, 256, 32, q5_k_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale, float* min) { return Q4K::scales(in, scale, min); }

  // Nibbles, and 16 where bit `mask` of high is set.
  template <class V>
  static HWY_INLINE V code(V nibbles, V high, uint8_t mask) {
    const auto bit = hn::Set(Bytes32(), mask);
    return hn::Or(nibbles, hn::IfThenElseZero(hn::Eq(hn::And(high, bit), bit), hn::Set(Bytes32(), uint8_t{16})));
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    auto* out = reinterpret_cast<uint8_t*>(buffer);
    const auto low_nibble = hn::Set(Bytes32(), uint8_t{15});
    for (size_t pair = 0; pair < 4; ++pair, out += 64) {
      const auto mask = static_cast<uint8_t>(1U << (pair * 2));
      for (size_t l = 0; l < 32; l += hn::Lanes(Bytes32())) {
        const auto high = hn::LoadU(Bytes32(), in + 16 + l);
        const auto q = hn::LoadU(Bytes32(), in + 48 + pair * 32 + l);
        hn::StoreU(code(hn::And(q, low_nibble), high, mask), Bytes32(), out + l);
        hn::StoreU(code(hn::ShiftRight<4>(q), high, static_cast<uint8_t>(mask << 1)), Bytes32(), out + 32 + l);
      }
    }
    return buffer;
  }
};

struct Q6K : Geometry<210, 256, 16, q6_k_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    float d = 0;
    if (!finite_half(in + 208, d)) return false;
    const uint64_t s[2] = {load<uint64_t>(in + 192), load<uint64_t>(in + 200)};
    scale_bytes<int8_t>(d, s, scale);
    return true;
  }

  template <class V>
  static HWY_INLINE V code(V nibbles, V high) {
    return hn::Sub(hn::Or(nibbles, hn::ShiftLeft<4>(high)), hn::Set(Bytes32(), uint8_t{32}));
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    auto* out = reinterpret_cast<uint8_t*>(buffer);
    const auto low_nibble = hn::Set(Bytes32(), uint8_t{15});
    for (size_t half = 0; half < 2; ++half, out += 128) {
      for (size_t l = 0; l < 32; l += hn::Lanes(Bytes32())) {
        const auto a = hn::LoadU(Bytes32(), in + half * 64 + l);
        const auto b = hn::LoadU(Bytes32(), in + half * 64 + 32 + l);
        const auto high = hn::LoadU(Bytes32(), in + 128 + half * 32 + l);
        hn::StoreU(code(hn::And(a, low_nibble), two_bits<0>(high)), Bytes32(), out + l);
        hn::StoreU(code(hn::And(b, low_nibble), two_bits<2>(high)), Bytes32(), out + 32 + l);
        hn::StoreU(code(hn::ShiftRight<4>(a), two_bits<4>(high)), Bytes32(), out + 64 + l);
        hn::StoreU(code(hn::ShiftRight<4>(b), two_bits<6>(high)), Bytes32(), out + 96 + l);
      }
    }
    return buffer;
  }
};

}  // namespace
#endif

HR_FAST_TARGET(q2_k, Q2K)
HR_FAST_TARGET(q3_k, Q3K)
HR_FAST_TARGET(q4_k, Q4K)
HR_FAST_TARGET(q5_k, Q5K)
HR_FAST_TARGET(q6_k, Q6K)

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HR_FAST(q2_k)
HR_FAST(q3_k)
HR_FAST(q4_k)
HR_FAST(q5_k)
HR_FAST(q6_k)

}  // namespace headrace::quant
#endif
