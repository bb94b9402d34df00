// Q6_K by SIMD, compiled once per instruction set and chosen at run time. Bit-equal to q6_k.cpp, which draws the block.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/q6_k_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quant/fast_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

namespace {

struct Kernel {
  static constexpr size_t kBytes = 210;
  static constexpr size_t kElements = 256;
  static constexpr size_t kScales = 1;
  static constexpr size_t kScalesAt = 208;
  static constexpr auto kScalar = q6_k_scalar;

  // Stores d * (nibbles + 16 * high - 32).
  template <class Bytes>
  HWY_INLINE static void store(float d, Bytes nibbles, Bytes high, float* y) {
    const auto q = hn::Or(nibbles, hn::ShiftLeft<4>(hn::And(high, hn::Set(U8(), uint8_t{3}))));
    const auto code = hn::Sub(hn::PromoteTo(I32(), q), hn::Set(I32(), 32));
    hn::StoreU(hn::Mul(hn::Set(F32(), d), hn::ConvertTo(F32(), code)), F32(), y);
  }

  // One of the two halves of 128 elements; the pointers are to its part of each array.
  HWY_INLINE static void decode_half(const uint8_t* ql, const uint8_t* qh, const float* d, float* y) {
    const auto low_nibble = hn::Set(U8(), uint8_t{15});
    for (size_t j = 0; j < 32; j += hn::Lanes(F32())) {
      const auto a = hn::LoadU(U8(), ql + j);
      const auto b = hn::LoadU(U8(), ql + 32 + j);
      const auto high = hn::LoadU(U8(), qh + j);
      const float* const group = d + j / 16;
      store(group[0], hn::And(a, low_nibble), high, y + j);
      store(group[2], hn::And(b, low_nibble), hn::ShiftRight<2>(high), y + 32 + j);
      store(group[4], hn::ShiftRight<4>(a), hn::ShiftRight<4>(high), y + 64 + j);
      store(group[6], hn::ShiftRight<4>(b), hn::ShiftRight<6>(high), y + 96 + j);
    }
  }

  HWY_INLINE static void decode(const uint8_t* in, const float* scale, float* y) {
    float d[16];
    for (size_t g = 0; g < 16; ++g) d[g] = scale[0] * static_cast<float>(static_cast<int8_t>(in[192 + g]));
    decode_half(in, in + 128, d, y);
    decode_half(in + 64, in + 160, d + 8, y + 128);
  }
};

}  // namespace

void decode_q6_k(std::span<const std::byte> in, std::span<float> out) { decode_blocks<Kernel>(in, out); }

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HWY_EXPORT(decode_q6_k);

void q6_k_fast(std::span<const std::byte> in, std::span<float> out) { HWY_DYNAMIC_DISPATCH(decode_q6_k)(in, out); }

}  // namespace headrace::quant
#endif
