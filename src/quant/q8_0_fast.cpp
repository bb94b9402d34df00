// Q8_0 by SIMD, compiled once per instruction set and chosen at run time. Bit-equal to q8_0.cpp, which draws the block.
#include "base/half.h"
#include "quant/decode.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/q8_0_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void decode_q8_0(std::span<const std::byte> in, std::span<float> out) {
  constexpr size_t kBlockBytes = 34;
  const hn::CappedTag<float, 16> df;
  const hn::Rebind<int32_t, decltype(df)> di;
  const hn::Rebind<int8_t, decltype(df)> di8;
  for (size_t i = 0; i < in.size() / kBlockBytes; ++i) {
    const auto block = in.subspan(i * kBlockBytes, kBlockBytes);
    const uint16_t d_bits = load_block<uint16_t>(block, 0);
    if (f16_is_special(d_bits)) {
      q8_0_scalar(block, out.subspan(i * 32, 32));
      continue;
    }
    const auto d = hn::Set(df, f16_to_f32(d_bits));
    const auto* qs = reinterpret_cast<const int8_t*>(block.data()) + 2;
    float* const y = out.data() + i * 32;
    for (size_t j = 0; j < 32; j += hn::Lanes(df)) {
      const auto q = hn::ConvertTo(df, hn::PromoteTo(di, hn::LoadU(di8, qs + j)));
      hn::StoreU(hn::Mul(d, q), df, y + j);
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HWY_EXPORT(decode_q8_0);

void q8_0_fast(std::span<const std::byte> in, std::span<float> out) { HWY_DYNAMIC_DISPATCH(decode_q8_0)(in, out); }

}  // namespace headrace::quant
#endif
