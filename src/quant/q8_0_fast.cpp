// Q8_0 by SIMD, compiled once per instruction set and chosen at run time. Bit-equal to q8_0.cpp, which draws the block.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/q8_0_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quant/fast_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

namespace {

struct Kernel {
  static constexpr size_t kBytes = 34;
  static constexpr size_t kElements = 32;
  static constexpr size_t kScales = 1;
  static constexpr size_t kScalesAt = 0;
  static constexpr auto kScalar = q8_0_scalar;

  HWY_INLINE static void decode(const uint8_t* in, const float* scale, float* y) {
    const auto d = hn::Set(F32(), scale[0]);
    const auto* qs = reinterpret_cast<const int8_t*>(in) + 2;
    const hn::Rebind<int8_t, F32> di8;
    for (size_t j = 0; j < 32; j += hn::Lanes(F32())) {
      hn::StoreU(hn::Mul(d, to_f32(hn::LoadU(di8, qs + j))), F32(), y + j);
    }
  }
};

}  // namespace

void decode_q8_0(std::span<const std::byte> in, std::span<float> out) { decode_blocks<Kernel>(in, out); }

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HWY_EXPORT(decode_q8_0);

void q8_0_fast(std::span<const std::byte> in, std::span<float> out) { HWY_DYNAMIC_DISPATCH(decode_q8_0)(in, out); }

}  // namespace headrace::quant
#endif
