// Q4_1 by SIMD, compiled once per instruction set and chosen at run time. Bit-equal to q4_1.cpp, which draws the block.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/q4_1_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quant/fast_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

namespace {

struct Kernel {
  static constexpr size_t kBytes = 20;
  static constexpr size_t kElements = 32;
  static constexpr size_t kScales = 2;
  static constexpr size_t kScalesAt = 0;
  static constexpr auto kScalar = q4_1_scalar;

  HWY_INLINE static void decode(const uint8_t* in, const float* scale, float* y) {
    const auto d = hn::Set(F32(), scale[0]);
    const auto m = hn::Set(F32(), scale[1]);
    const auto low_nibble = hn::Set(U8(), uint8_t{15});
    for (size_t j = 0; j < 16; j += hn::Lanes(F32())) {
      const auto q = hn::LoadU(U8(), in + 4 + j);
      const auto low = to_f32(hn::And(q, low_nibble));
      const auto high = to_f32(hn::ShiftRight<4>(q));
      hn::StoreU(hn::Add(hn::Mul(d, low), m), F32(), y + j);
      hn::StoreU(hn::Add(hn::Mul(d, high), m), F32(), y + j + 16);
    }
  }
};

}  // namespace

void decode_q4_1(std::span<const std::byte> in, std::span<float> out) { decode_blocks<Kernel>(in, out); }

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HWY_EXPORT(decode_q4_1);

void q4_1_fast(std::span<const std::byte> in, std::span<float> out) { HWY_DYNAMIC_DISPATCH(decode_q4_1)(in, out); }

}  // namespace headrace::quant
#endif
