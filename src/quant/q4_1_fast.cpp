// Q4_1 by SIMD, compiled once per instruction set and chosen at run time. Bit-equal to q4_1.cpp, which draws the block.
#include "base/half.h"
#include "quant/decode.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/q4_1_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Mul, then Add: a fused multiply-add rounds once and would differ from the scalar twin.
void decode_q4_1(std::span<const std::byte> in, std::span<float> out) {
  constexpr size_t kBlockBytes = 20;
  const hn::CappedTag<float, 16> df;
  const hn::Rebind<int32_t, decltype(df)> di;
  const hn::Rebind<uint8_t, decltype(df)> du8;
  const auto low_nibble = hn::Set(du8, uint8_t{15});
  for (size_t i = 0; i < in.size() / kBlockBytes; ++i) {
    const auto block = in.subspan(i * kBlockBytes, kBlockBytes);
    const uint16_t d_bits = load_block<uint16_t>(block, 0);
    const uint16_t m_bits = load_block<uint16_t>(block, 1);
    if (f16_is_special(d_bits) || f16_is_special(m_bits)) {
      q4_1_scalar(block, out.subspan(i * 32, 32));
      continue;
    }
    const auto d = hn::Set(df, f16_to_f32(d_bits));
    const auto m = hn::Set(df, f16_to_f32(m_bits));
    const auto* qs = reinterpret_cast<const uint8_t*>(block.data()) + 4;
    float* const y = out.data() + i * 32;
    for (size_t j = 0; j < 16; j += hn::Lanes(df)) {
      const auto q = hn::LoadU(du8, qs + j);
      const auto low = hn::ConvertTo(df, hn::PromoteTo(di, hn::And(q, low_nibble)));
      const auto high = hn::ConvertTo(df, hn::PromoteTo(di, hn::ShiftRight<4>(q)));
      hn::StoreU(hn::Add(hn::Mul(d, low), m), df, y + j);
      hn::StoreU(hn::Add(hn::Mul(d, high), m), df, y + j + 16);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HWY_EXPORT(decode_q4_1);

void q4_1_fast(std::span<const std::byte> in, std::span<float> out) { HWY_DYNAMIC_DISPATCH(decode_q4_1)(in, out); }

}  // namespace headrace::quant
#endif
