// Q4_K by SIMD, compiled once per instruction set and chosen at run time. Bit-equal to q4_k.cpp, which draws the block.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/q4_k_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quant/fast_inl.h"
#include "quant/k_scales.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

namespace {

struct Kernel {
  static constexpr size_t kBytes = 144;
  static constexpr size_t kElements = 256;
  static constexpr size_t kScales = 2;
  static constexpr size_t kScalesAt = 0;
  static constexpr auto kScalar = q4_k_scalar;

  HWY_INLINE static void decode(const uint8_t* in, const float* scale, float* y) {
    const KScales six_bit = unpack_k_scales(in + 4);
    const auto low_nibble = hn::Set(U8(), uint8_t{15});
    for (size_t g = 0; g < 8; g += 2) {
      const auto d0 = hn::Set(F32(), scale[0] * six_bit.scale[g]);
      const auto m0 = hn::Set(F32(), scale[1] * six_bit.min[g]);
      const auto d1 = hn::Set(F32(), scale[0] * six_bit.scale[g + 1]);
      const auto m1 = hn::Set(F32(), scale[1] * six_bit.min[g + 1]);
      for (size_t j = 0; j < 32; j += hn::Lanes(F32())) {
        const auto q = hn::LoadU(U8(), in + 16 + g * 16 + j);
        const auto low = to_f32(hn::And(q, low_nibble));
        const auto high = to_f32(hn::ShiftRight<4>(q));
        hn::StoreU(hn::Sub(hn::Mul(d0, low), m0), F32(), y + g * 32 + j);
        hn::StoreU(hn::Sub(hn::Mul(d1, high), m1), F32(), y + g * 32 + 32 + j);
      }
    }
  }
};

}  // namespace

void decode_q4_k(std::span<const std::byte> in, std::span<float> out) { decode_blocks<Kernel>(in, out); }

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HWY_EXPORT(decode_q4_k);

void q4_k_fast(std::span<const std::byte> in, std::span<float> out) { HWY_DYNAMIC_DISPATCH(decode_q4_k)(in, out); }

}  // namespace headrace::quant
#endif
