// Q5_0 by SIMD, compiled once per instruction set and chosen at run time. Bit-equal to q5_0.cpp, which draws the block.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/q5_0_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quant/fast_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

namespace {

struct Kernel {
  static constexpr size_t kBytes = 22;
  static constexpr size_t kElements = 32;
  static constexpr size_t kScales = 1;
  static constexpr size_t kScalesAt = 0;
  static constexpr auto kScalar = q5_0_scalar;

  // The nibbles less 16 where the fifth bit, of which lane i has bit i of `high_bits`, is not set.
  template <class Nibbles>
  HWY_INLINE static auto codes(Nibbles nibbles, uint32_t high_bits) {
    const auto lane_bit = hn::Shl(hn::Set(I32(), 1), hn::Iota(I32(), 0));
    const auto has_bit = hn::TestBit(hn::Set(I32(), static_cast<int32_t>(high_bits)), lane_bit);
    const auto offset = hn::IfThenZeroElse(has_bit, hn::Set(I32(), 16));
    return hn::ConvertTo(F32(), hn::Sub(hn::PromoteTo(I32(), nibbles), offset));
  }

  HWY_INLINE static void decode(const uint8_t* in, const float* scale, float* y) {
    const auto d = hn::Set(F32(), scale[0]);
    const auto low_nibble = hn::Set(U8(), uint8_t{15});
    uint32_t qh = 0;
    std::memcpy(&qh, in + 2, sizeof(qh));
    for (size_t j = 0; j < 16; j += hn::Lanes(F32())) {
      const auto q = hn::LoadU(U8(), in + 6 + j);
      hn::StoreU(hn::Mul(d, codes(hn::And(q, low_nibble), qh >> j)), F32(), y + j);
      hn::StoreU(hn::Mul(d, codes(hn::ShiftRight<4>(q), qh >> (j + 16))), F32(), y + j + 16);
    }
  }
};

}  // namespace

void decode_q5_0(std::span<const std::byte> in, std::span<float> out) { decode_blocks<Kernel>(in, out); }

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HWY_EXPORT(decode_q5_0);

void q5_0_fast(std::span<const std::byte> in, std::span<float> out) { HWY_DYNAMIC_DISPATCH(decode_q5_0)(in, out); }

}  // namespace headrace::quant
#endif
