// Codes of four bits that index sixteen fixed values: IQ4_NL, IQ4_XS, MXFP4 and NVFP4, by SIMD, compiled once per
// instruction set and chosen at run time. Bit-equal to the scalar twins, which draw the blocks.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/values16_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quant/codebooks.h"
#include "quant/fast_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

#if HR_SIMD
namespace {

// The values of the low nibbles of 16 bytes go to `low`, those of the high nibbles to `high`.
HWY_INLINE void look_up(const std::array<int8_t, 16>& values, const uint8_t* in, int8_t* low, int8_t* high) {
  const hn::RebindToSigned<Bytes16> signed_bytes;
  const auto table = hn::LoadU(signed_bytes, values.data());
  const auto q = hn::LoadU(Bytes16(), in);
  hn::StoreU(hn::TableLookupBytes(table, hn::BitCast(signed_bytes, hn::And(q, hn::Set(Bytes16(), uint8_t{15})))),
             signed_bytes, low);
  hn::StoreU(hn::TableLookupBytes(table, hn::BitCast(signed_bytes, hn::ShiftRight<4>(q))), signed_bytes, high);
}

struct Iq4Nl : Geometry<18, 32, 32, iq4_nl_scalar>, OneHalf<0> {
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    look_up(kIq4Values, in + 2, buffer, buffer + 16);
    return buffer;
  }
};

struct Iq4Xs : Geometry<136, 256, 32, iq4_xs_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    float d = 0;
    if (!finite_half(in, d)) return false;
    const unsigned high = load<uint16_t>(in + 2);
    const auto low = load<uint32_t>(in + 4);
    for (size_t g = 0; g < 8; ++g) {
      const unsigned six_bits = (low >> (g * 4) & 15U) | (high >> (g * 2) & 3U) << 4;
      scale[g] = d * static_cast<float>(static_cast<int>(six_bits) - 32);
    }
    return true;
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    for (size_t g = 0; g < 8; ++g) look_up(kIq4Values, in + 8 + g * 16, buffer + g * 32, buffer + g * 32 + 16);
    return buffer;
  }
};

struct Mxfp4 : Geometry<17, 32, 32, mxfp4_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    *scale = e8m0_half(in[0]);
    return true;
  }
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    look_up(kFp4Values, in + 1, buffer, buffer + 16);
    return buffer;
  }
};

struct Nvfp4 : Geometry<36, 64, 16, nvfp4_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    static constexpr auto kScales = [] {
      std::array<float, 256> out{};
      for (size_t bits = 0; bits < 256; ++bits) out[bits] = ue4m3_half(static_cast<uint8_t>(bits));
      return out;
    }();
    for (size_t g = 0; g < 4; ++g) scale[g] = kScales[in[g]];
    return true;
  }

  // Eight bytes make a group: of 16 bytes, the lower halves of both results are one group, the upper halves the next.
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    for (size_t pair = 0; pair < 2; ++pair) {
      alignas(16) int8_t low[16];
      alignas(16) int8_t high[16];
      look_up(kFp4Values, in + 4 + pair * 16, low, high);
      int8_t* const out = buffer + pair * 32;
      std::memcpy(out, low, 8);
      std::memcpy(out + 8, high, 8);
      std::memcpy(out + 16, low + 8, 8);
      std::memcpy(out + 24, high + 8, 8);
    }
    return buffer;
  }
};

}  // namespace
#endif

HR_FAST_TARGET(iq4_nl, Iq4Nl)
HR_FAST_TARGET(iq4_xs, Iq4Xs)
HR_FAST_TARGET(mxfp4, Mxfp4)
HR_FAST_TARGET(nvfp4, Nvfp4)

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HR_FAST(iq4_nl)
HR_FAST(iq4_xs)
HR_FAST(mxfp4)
HR_FAST(nvfp4)

}  // namespace headrace::quant
#endif
