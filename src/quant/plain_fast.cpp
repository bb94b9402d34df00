// Plain numbers by SIMD, compiled once per instruction set and chosen at run time. Bit-equal to plain.cpp. Not here:
// I64, of which x86 before AVX-512 converts no more than one at a time; by way of f64 it would round twice.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/plain_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quant/fast_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

#if HR_SIMD
namespace {

struct FromF32 {
  static constexpr size_t kBytes = 4;
  static constexpr auto kScalar = f32_scalar;
  static HWY_INLINE Floats load_floats(const uint8_t* in) {
    return hn::LoadU(F32(), reinterpret_cast<const float*>(in));
  }
};

struct FromF16 {
  static constexpr size_t kBytes = 2;
  static constexpr auto kScalar = f16_scalar;

  static HWY_INLINE Floats load_floats(const uint8_t* in) {
    const auto halves = hn::LoadU(U16(), reinterpret_cast<const uint16_t*>(in));
    const auto bits = hn::PromoteTo(U32(), halves);
    const auto sign = hn::ShiftLeft<16>(hn::And(bits, hn::Set(U32(), 0x8000)));
    const auto magnitude = hn::And(bits, hn::Set(U32(), 0x7FFF));
    const auto placed = hn::ShiftLeft<13>(magnitude);
    const auto special = hn::BitCast(F32(), hn::Or(hn::Or(placed, hn::Set(U32(), 0x7F800000)), sign));
#if HR_HAS_F16C
    // The instruction makes signalling NaNs quiet; the twin keeps them.
    const auto value = hn::PromoteTo(F32(), hn::BitCast(F16(), halves));
    return hn::IfThenElse(hn::IsNaN(value), special, value);
#else
    const auto normal = hn::BitCast(F32(), hn::Add(placed, hn::Set(U32(), 112U << 23)));
    const auto subnormal = hn::Mul(hn::ConvertTo(F32(), hn::BitCast(I32(), magnitude)), hn::Set(F32(), 0x1p-24F));
    const auto ordered = hn::BitCast(I32(), magnitude);
    auto value = hn::IfThenElse(hn::RebindMask(F32(), hn::Lt(ordered, hn::Set(I32(), 0x400))), subnormal, normal);
    value = hn::Or(value, hn::BitCast(F32(), sign));
    return hn::IfThenElse(hn::RebindMask(F32(), hn::Gt(ordered, hn::Set(I32(), 0x7BFF))), special, value);
#endif
  }
};

struct FromBf16 {
  static constexpr size_t kBytes = 2;
  static constexpr auto kScalar = bf16_scalar;
  static HWY_INLINE Floats load_floats(const uint8_t* in) {
    const auto halves = hn::LoadU(U16(), reinterpret_cast<const uint16_t*>(in));
    return hn::BitCast(F32(), hn::ShiftLeft<16>(hn::PromoteTo(U32(), halves)));
  }
};

struct FromI8 {
  static constexpr size_t kBytes = 1;
  static constexpr auto kScalar = i8_scalar;
  static HWY_INLINE Floats load_floats(const uint8_t* in) {
    return to_f32(hn::LoadU(I8(), reinterpret_cast<const int8_t*>(in)));
  }
};

struct FromI16 {
  static constexpr size_t kBytes = 2;
  static constexpr auto kScalar = i16_scalar;
  static HWY_INLINE Floats load_floats(const uint8_t* in) {
    const hn::Rebind<int16_t, F32> shorts;
    const auto values = hn::LoadU(shorts, reinterpret_cast<const int16_t*>(in));
    return hn::ConvertTo(F32(), hn::PromoteTo(I32(), values));
  }
};

struct FromI32 {
  static constexpr size_t kBytes = 4;
  static constexpr auto kScalar = i32_scalar;
  static HWY_INLINE Floats load_floats(const uint8_t* in) {
    return hn::ConvertTo(F32(), hn::LoadU(I32(), reinterpret_cast<const int32_t*>(in)));
  }
};

struct FromF64 {
  static constexpr size_t kBytes = 8;
  static constexpr auto kScalar = f64_scalar;
  // A vector of doubles fills half a vector of floats.
  static HWY_INLINE Floats load_floats(const uint8_t* in) {
#if HWY_TARGET == HWY_EMU128  // its DemoteTo makes the largest f32 of infinity
    float values[hn::MaxLanes(F32())];
    f64_scalar({reinterpret_cast<const std::byte*>(in), sizeof(values) / sizeof(float) * kBytes}, values);
    return hn::LoadU(F32(), values);
#else
    const hn::Half<F32> half;
    const hn::Rebind<double, decltype(half)> doubles;
    const auto* const from = reinterpret_cast<const double*>(in);
    const auto lower = hn::DemoteTo(half, hn::LoadU(doubles, from));
    const auto upper = hn::DemoteTo(half, hn::LoadU(doubles, from + hn::Lanes(doubles)));
    return hn::Combine(F32(), upper, lower);
#endif
  }
};

template <class Source, class Out>
HWY_INLINE void convert(std::span<const std::byte> in, std::span<typename Out::Element> out) {
  const auto* const from = reinterpret_cast<const uint8_t*>(in.data());
  const size_t lanes = hn::Lanes(F32());
  size_t i = 0;
  for (; i + lanes <= out.size(); i += lanes) {
    Out::store_any(Source::load_floats(from + i * Source::kBytes), out.data() + i);
  }
  for (; i < out.size(); ++i) {
    float value = 0;
    Source::kScalar(in.subspan(i * Source::kBytes, Source::kBytes), std::span<float>(&value, 1));
    out[i] = Out::scalar(value);
  }
}

}  // namespace
#endif

#if HR_SIMD
#define HR_CONVERT(stem, Source)                                                                                   \
  void stem##_f32_target(std::span<const std::byte> in, std::span<float> out) { convert<Source, ToF32>(in, out); } \
  void stem##_bf16_target(std::span<const std::byte> in, std::span<uint16_t> out) {                                \
    convert<Source, ToBf16>(in, out);                                                                              \
  }                                                                                                                \
  void stem##_f16_target(std::span<const std::byte> in, std::span<uint16_t> out) { convert<Source, ToF16>(in, out); }
#else
#define HR_CONVERT(stem, Source) HR_FAST_TARGET(stem, Source)
#endif
HR_CONVERT(f32, FromF32)
HR_CONVERT(f16, FromF16)
HR_CONVERT(bf16, FromBf16)
HR_CONVERT(f64, FromF64)
HR_CONVERT(i8, FromI8)
HR_CONVERT(i16, FromI16)
HR_CONVERT(i32, FromI32)
#undef HR_CONVERT

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HR_FAST(f32)
HR_FAST(f16)
HR_FAST(bf16)
HR_FAST(f64)
HR_FAST(i8)
HR_FAST(i16)
HR_FAST(i32)

}  // namespace headrace::quant
#endif
