// What the SIMD decoders share. Each x_fast.cpp includes this after hwy/foreach_target.h, so that it is compiled once
// per instruction set, beside the kernel it runs.
//
// A kernel is a struct, in an unnamed namespace because each file has one, with
//   kBytes, kElements     the block's geometry
//   kScales, kScalesAt    how many f16 scales it has, side by side, and after how many bytes
//   kScalar               its scalar twin
//   decode(in, scale, y)  one block, of which all scales are finite; `scale` holds them widened
// It uses Mul, Add and Sub, never a fused multiply-add, which rounds once and would differ from the twin.
#if defined(HEADRACE_QUANT_FAST_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADRACE_QUANT_FAST_INL_H
#undef HEADRACE_QUANT_FAST_INL_H
#else
#define HEADRACE_QUANT_FAST_INL_H
#endif

#include <hwy/highway.h>

#include "base/half.h"
#include "quant/decode.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// At most 16 lanes: the shortest run of elements that share a scale.
using F32 = hn::CappedTag<float, 16>;
using I32 = hn::Rebind<int32_t, F32>;
using U8 = hn::Rebind<uint8_t, F32>;

// Small integers as f32, exactly.
template <class Bytes>
HWY_INLINE auto to_f32(Bytes bytes) {
  return hn::ConvertTo(F32(), hn::PromoteTo(I32(), bytes));
}

template <class Kernel>
HWY_INLINE void decode_blocks(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / Kernel::kBytes; ++i) {
    const auto block = in.subspan(i * Kernel::kBytes, Kernel::kBytes);
    const auto y = out.subspan(i * Kernel::kElements, Kernel::kElements);
    bool special = false;
    float scale[Kernel::kScales];
    for (size_t k = 0; k < Kernel::kScales; ++k) {
      const auto bits = load_block<uint16_t>(block.subspan(Kernel::kScalesAt), k);
      special |= f16_is_special(bits);
      scale[k] = f16_to_f32(bits);
    }
    if (special) {
      Kernel::kScalar(block, y);
    } else {
      Kernel::decode(reinterpret_cast<const uint8_t*>(block.data()), scale, y.data());
    }
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#endif
