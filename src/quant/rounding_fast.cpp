// Rounding by SIMD, compiled once per instruction set and chosen at run time. Bit-equal to rounding.cpp. Integer
// arithmetic on the bits: Highway 1.0.3 truncates f32 to bf16, and its f16 conversion depends on the instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/rounding_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h
#include <hwy/highway.h>

#include "quant/rounding.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

namespace {

using F32 = hn::ScalableTag<float>;
using I32 = hn::Rebind<int32_t, F32>;
using Floats = hn::Vec<F32>;
using Words = hn::Vec<I32>;  // signed, for comparisons; all that are compared are not negative

HWY_INLINE Words word(int32_t value) { return hn::Set(I32(), value); }
HWY_INLINE Words magnitude(Words bits) { return hn::And(bits, word(0x7FFFFFFF)); }

// The bits of a half, and its value again.
struct Rounded {
  Words half;
  Floats wide;
};

struct ToBf16 {
  static constexpr auto kScalar = round_to_bf16_scalar;

  HWY_INLINE static Rounded round(Words bits) {
    const auto upper = hn::And(hn::ShiftRight<16>(bits), word(0xFFFF));
    const auto nan = hn::Gt(magnitude(bits), word(0x7F800000));
    // What the last kept bit adds breaks ties to even. The sum of a NaN may wrap; it is not used.
    const auto sum = hn::Add(hn::Add(bits, word(0x7FFF)), hn::And(upper, word(1)));
    const auto nearest = hn::And(hn::ShiftRight<16>(sum), word(0xFFFF));
    const auto half = hn::IfThenElse(nan, hn::Or(upper, word(0x40)), nearest);
    return {half, hn::BitCast(F32(), hn::ShiftLeft<16>(half))};
  }
};

struct ToF16 {
  static constexpr auto kScalar = round_to_f16_scalar;

  HWY_INLINE static Rounded round(Words bits) {
    const auto mag = magnitude(bits);
    const auto sign = hn::AndNot(word(0x7FFFFFFF), bits);
    const auto nan = hn::Gt(mag, word(0x7F800000));
    const auto infinite = hn::Gt(mag, word(0x477FEFFF));   // rounds to 2^16 or beyond
    const auto subnormal = hn::Gt(word(0x38800000), mag);  // below 2^-14
    const auto kept = hn::And(hn::ShiftRight<13>(mag), word(1));
    // 13 bits fewer, as bits of an f32.
    const auto normal = hn::AndNot(word(0x1FFF), hn::Add(hn::Add(mag, word(0x0FFF)), kept));
    // Adding 0.5 lets the FPU round at bit 2^-24, the last of a subnormal.
    const auto half_one = hn::Set(F32(), 0.5F);
    const auto shifted = hn::Add(hn::BitCast(F32(), mag), half_one);

    const auto normal_half = hn::ShiftRight<13>(hn::Sub(normal, word(0x38000000)));
    const auto small_half = hn::Sub(hn::BitCast(I32(), shifted), word(0x3F000000));
    const auto payload = hn::And(hn::ShiftRight<13>(mag), word(0x3FF));
    auto half = hn::IfThenElse(subnormal, small_half, normal_half);
    half = hn::IfThenElse(infinite, word(0x7C00), half);
    half = hn::IfThenElse(nan, hn::Or(word(0x7E00), payload), half);

    auto wide = hn::IfThenElse(subnormal, hn::BitCast(I32(), hn::Sub(shifted, half_one)), normal);
    wide = hn::IfThenElse(infinite, word(0x7F800000), wide);
    const auto half_sign = hn::And(hn::ShiftRight<16>(sign), word(0x8000));
    return {hn::Or(half, half_sign), hn::BitCast(F32(), hn::Or(wide, sign))};
  }
};

template <class To>
HWY_INLINE void round_all(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss) {
  const size_t lanes = hn::Lanes(F32());
  const hn::Rebind<uint16_t, F32> halves;
  auto largest = hn::Zero(F32());
  size_t inexact = 0;
  size_t beyond = 0;
  size_t i = 0;
  for (; i + lanes <= in.size(); i += lanes) {
    const auto x = hn::LoadU(F32(), in.data() + i);
    const Words bits = hn::BitCast(I32(), x);
    const Rounded rounded = To::round(bits);
    hn::StoreU(hn::DemoteTo(halves, rounded.half), halves, out.data() + i);

    const Words wide = hn::BitCast(I32(), rounded.wide);
    const auto changed = hn::And(hn::Ne(wide, bits), hn::Gt(word(0x7F800001), magnitude(bits)));
    const auto overflowed = hn::And(changed, hn::Eq(magnitude(wide), word(0x7F800000)));
    inexact += hn::CountTrue(I32(), changed);
    beyond += hn::CountTrue(I32(), overflowed);
    const auto error = hn::Abs(hn::Sub(rounded.wide, x));
    largest = hn::Max(largest, hn::IfThenElseZero(hn::RebindMask(F32(), hn::AndNot(overflowed, changed)), error));
  }
  const auto most = static_cast<double>(hn::GetLane(hn::MaxOfLanes(F32(), largest)));
  loss.add({.inexact = inexact, .overflowed = beyond, .largest_error = most});
  To::kScalar(in.subspan(i), out.subspan(i), loss);
}

}  // namespace

void to_bf16(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss) {
  round_all<ToBf16>(in, out, loss);
}
void to_f16(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss) { round_all<ToF16>(in, out, loss); }

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HWY_EXPORT(to_bf16);
HWY_EXPORT(to_f16);

void round_to_bf16(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss) {
  HWY_DYNAMIC_DISPATCH(to_bf16)(in, out, loss);
}

void round_to_f16(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss) {
  HWY_DYNAMIC_DISPATCH(to_f16)(in, out, loss);
}

}  // namespace headrace::quant
#endif
