// What the SIMD decoders share. Each x_fast.cpp includes this after hwy/foreach_target.h, so that it is compiled once
// per instruction set, beside the kernels it runs.
//
// A block is decoded in two stages. The kernel unpacks its codes to signed bytes; decode_block then makes
// scale * code (+ min) of each, group by group, and writes it as f32, bf16 or f16. A kernel is a struct, in an unnamed
// namespace because each file has its own, that inherits its Geometry and has
//   scales(in, scale)          the groups' scales as f32; false if a value of the block may be NaN
//   scales(in, scale, min)     instead of that where groups have a min, which is added
//   codes(in, buffer)          the codes of all elements, in order, in `buffer` or elsewhere
// It uses Mul and Add, never a fused multiply-add, which rounds once and would differ from the twin.
//
// Without any SIMD (HWY_SCALAR) the twins do it all: kernels stand in #if HR_SIMD.
#if defined(HEADRACE_QUANT_FAST_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef HEADRACE_QUANT_FAST_INL_H
#undef HEADRACE_QUANT_FAST_INL_H
#else
#define HEADRACE_QUANT_FAST_INL_H
#endif

#include <hwy/highway.h>

#include <algorithm>
#include <array>

#include "base/half.h"
#include "base/result.h"
#include "quant/block_type.h"
#include "quant/decode.h"

#undef HR_SIMD
#define HR_SIMD (HWY_TARGET != HWY_SCALAR)
// Whether the instruction set converts halves, and rounds them to nearest even.
#undef HR_HAS_F16C
#define HR_HAS_F16C (HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2)

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HR_SIMD

// At most 8 lanes, on every instruction set: more would gain nothing, since memory is the limit, and the rows of the
// IQ types' grids are of eight bytes.
using F32 = hn::CappedTag<float, 8>;
using I32 = hn::Rebind<int32_t, F32>;
using U32 = hn::Rebind<uint32_t, F32>;
using U16 = hn::Rebind<uint16_t, F32>;
using I8 = hn::Rebind<int8_t, F32>;
using F16 = hn::Rebind<hwy::float16_t, F32>;
using Floats = hn::Vec<F32>;
// Runs of bytes, 16 or a multiple of 32 of them.
using Bytes16 = hn::CappedTag<uint8_t, 16>;
using Bytes32 = hn::CappedTag<uint8_t, 32>;

template <class T>
HWY_INLINE T load(const uint8_t* at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

// Small integers as f32, exactly.
HWY_INLINE Floats to_f32(hn::Vec<I8> bytes) { return hn::ConvertTo(F32(), hn::PromoteTo(I32(), bytes)); }

HWY_INLINE float widen_half(uint16_t bits) {
#if HR_HAS_F16C
  const hn::Simd<hwy::float16_t, 4, 0> halves;
  const hn::Rebind<uint16_t, decltype(halves)> as_bits;
  return hn::GetLane(hn::PromoteTo(hn::Simd<float, 4, 0>(), hn::BitCast(halves, hn::Set(as_bits, bits))));
#else
  return f16_to_f32(bits);
#endif
}

// Widens the f16 at `at`. False if it is infinite or NaN.
HWY_INLINE bool finite_half(const uint8_t* at, float& value) {
  const auto bits = load<uint16_t>(at);
  value = widen_half(bits);
  return !f16_is_special(bits);
}

// The formats a decoder writes. `store2` writes a and then b, and may rely on there being no NaN, which `store_any` may
// not. `scalar` is for one value.
struct ToF32 {
  using Element = float;
  static HWY_INLINE void store_any(Floats v, float* y) { hn::StoreU(v, F32(), y); }
  static HWY_INLINE void store2(Floats a, Floats b, float* y) {
    store_any(a, y);
    store_any(b, y + hn::Lanes(F32()));
  }
  static float scalar(float value) { return value; }
};

struct ToBf16 {
  using Element = uint16_t;
  // The upper halves are the result.
  static HWY_INLINE hn::Vec<U32> rounded(Floats v) {
    const auto bits = hn::BitCast(U32(), v);
    const auto is_odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(U32(), 1));
    return hn::Add(bits, hn::Add(is_odd, hn::Set(U32(), 0x7FFF)));
  }
  static HWY_INLINE void store_upper(hn::Vec<U32> v, uint16_t* y) {
    hn::StoreU(hn::DemoteTo(U16(), hn::BitCast(I32(), hn::ShiftRight<16>(v))), U16(), y);
  }
  static HWY_INLINE void store2(Floats a, Floats b, uint16_t* y) {
    const hn::Repartition<uint16_t, F32> halves;
    hn::StoreU(hn::ConcatOdd(halves, hn::BitCast(halves, rounded(b)), hn::BitCast(halves, rounded(a))), halves, y);
  }
  static HWY_INLINE void store_any(Floats v, uint16_t* y) {
    const auto quiet_nan = hn::Or(hn::BitCast(U32(), v), hn::Set(U32(), 0x00400000));
    store_upper(hn::IfThenElse(hn::RebindMask(U32(), hn::IsNaN(v)), quiet_nan, rounded(v)), y);
  }
  static uint16_t scalar(float value) { return f32_to_bf16(value); }
};

struct ToF16 {
  using Element = uint16_t;
  static HWY_INLINE void store_any(Floats v, uint16_t* y) {
#if HR_HAS_F16C
    hn::StoreU(hn::BitCast(U16(), hn::DemoteTo(F16(), v)), U16(), y);
#else
    hn::StoreU(hn::DemoteTo(U16(), narrowed(v)), U16(), y);
#endif
  }
  static HWY_INLINE void store2(Floats a, Floats b, uint16_t* y) {
    store_any(a, y);
    store_any(b, y + hn::Lanes(F32()));
  }
  static uint16_t scalar(float value) { return f32_to_f16(value); }

  // f32_to_f16 of base/half.h, lane by lane.
  static HWY_INLINE hn::Vec<I32> narrowed(Floats v) {
    const auto number = [](int32_t n) HWY_ATTR { return hn::Set(I32(), n); };
    const auto bits = hn::BitCast(I32(), v);
    const auto magnitude = hn::And(bits, number(0x7FFFFFFF));
    const auto sign = hn::And(hn::BitCast(I32(), hn::ShiftRight<16>(hn::BitCast(U32(), v))), number(0x8000));
    const auto is_odd = hn::And(hn::ShiftRight<13>(magnitude), number(1));
    const auto normal = hn::ShiftRight<13>(hn::Add(magnitude, hn::Add(is_odd, number(0xFFF - 0x38000000))));
    const auto at_half = hn::Add(hn::BitCast(F32(), magnitude), hn::Set(F32(), 0.5F));
    const auto subnormal = hn::Sub(hn::BitCast(I32(), at_half), number(0x3F000000));
    const auto quiet_nan = hn::Or(hn::And(hn::ShiftRight<13>(magnitude), number(0x3FF)), number(0x7E00));
    auto out = hn::IfThenElse(hn::Lt(magnitude, number(0x38800000)), subnormal, normal);
    out = hn::IfThenElse(hn::Gt(magnitude, number(0x477FEFFF)), number(0x7C00), out);
    out = hn::IfThenElse(hn::Gt(magnitude, number(0x7F800000)), quiet_nan, out);
    return hn::Or(out, sign);
  }
};

// Of a block: its bytes and elements, how many of these share a scale (at least 16), and the scalar twin.
template <size_t bytes, size_t elements, size_t group, DecodeF32 twin>
struct Geometry {
  static constexpr size_t kBytes = bytes;
  static constexpr size_t kElements = elements;
  static constexpr size_t kGroup = group;
  static constexpr DecodeF32 kScalar = twin;
};

// The scales of blocks with one f16 scale `at` bytes from their start, and of those that start with f16 scale and min.
template <size_t at>
struct OneHalf {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) { return finite_half(in + at, *scale); }
};

struct TwoHalves {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale, float* min) {
    return finite_half(in, *scale) && finite_half(in + 2, *min);
  }
};

// Writes scale * codes[j] for a group; then the same with a min added.
template <class Out, size_t kGroup>
HWY_INLINE void write_group(const int8_t* codes, float scale, typename Out::Element* y) {
  const size_t lanes = hn::Lanes(F32());
  const auto d = hn::Set(F32(), scale);
  for (size_t j = 0; j < kGroup; j += 2 * lanes) {
    const auto a = hn::Mul(d, to_f32(hn::LoadU(I8(), codes + j)));
    const auto b = hn::Mul(d, to_f32(hn::LoadU(I8(), codes + j + lanes)));
    Out::store2(a, b, y + j);
  }
}

template <class Out, size_t kGroup>
HWY_INLINE void write_group(const int8_t* codes, float scale, float min, typename Out::Element* y) {
  const size_t lanes = hn::Lanes(F32());
  const auto d = hn::Set(F32(), scale);
  const auto m = hn::Set(F32(), min);
  for (size_t j = 0; j < kGroup; j += 2 * lanes) {
    const auto a = hn::Mul(d, to_f32(hn::LoadU(I8(), codes + j)));
    const auto b = hn::Mul(d, to_f32(hn::LoadU(I8(), codes + j + lanes)));
    Out::store2(hn::Add(a, m), hn::Add(b, m), y + j);
  }
}

template <class Kernel>
concept HasMins = requires(const uint8_t* in, float* out) {
  Kernel::scales(in, out, out);
};

template <class Kernel, class Out>
HWY_INLINE bool decode_block(const uint8_t* in, typename Out::Element* y) {
  constexpr size_t kGroup = Kernel::kGroup;
  constexpr size_t kGroups = Kernel::kElements / kGroup;
  alignas(32) int8_t buffer[Kernel::kElements];
  float scale[kGroups];
  if constexpr (HasMins<Kernel>) {
    float min[kGroups];
    if (!Kernel::scales(in, scale, min)) return false;
    const int8_t* const codes = Kernel::codes(in, buffer);
    for (size_t g = 0; g < kGroups; ++g) {
      write_group<Out, kGroup>(codes + g * kGroup, scale[g], min[g], y + g * kGroup);
    }
  } else {
    if (!Kernel::scales(in, scale)) return false;
    const int8_t* const codes = Kernel::codes(in, buffer);
    for (size_t g = 0; g < kGroups; ++g) {
      write_group<Out, kGroup>(codes + g * kGroup, scale[g], y + g * kGroup);
    }
  }
  return true;
}

// A block with a special scale, by the scalar twin: which NaN comes out of NaN + NaN depends on the order of operands.
template <class Kernel, class Out>
HWY_NOINLINE void decode_block_by_twin(const uint8_t* in, typename Out::Element* y) {
  float values[Kernel::kElements];
  Kernel::kScalar({reinterpret_cast<const std::byte*>(in), Kernel::kBytes}, std::span<float>(values));
  for (size_t j = 0; j < Kernel::kElements; ++j) y[j] = Out::scalar(values[j]);
}

template <class Kernel, class Out>
HWY_INLINE void decode_blocks(std::span<const std::byte> in, std::span<typename Out::Element> out) {
  const auto* block = reinterpret_cast<const uint8_t*>(in.data());
  auto* y = out.data();
  for (size_t left = in.size() / Kernel::kBytes; left != 0; --left) {
    if (!decode_block<Kernel, Out>(block, y)) decode_block_by_twin<Kernel, Out>(block, y);
    block += Kernel::kBytes;
    y += Kernel::kElements;
  }
}

#else  // HR_SIMD

inline void halves_by_twin(DecodeF32 twin, std::span<const std::byte> in, std::span<uint16_t> out,
                           uint16_t (*narrow)(float)) {
  const auto table = block_type_table();
  const auto row = std::ranges::find(table, twin, &BlockTypeInfo::scalar);
  const auto elements = static_cast<size_t>(row->block_elements);
  const auto bytes = static_cast<size_t>(row->block_bytes);
  std::array<float, 256> values;
  HR_CHECK(elements <= values.size());
  for (; !out.empty(); in = in.subspan(bytes), out = out.subspan(elements)) {
    twin(in.first(bytes), std::span(values).first(elements));
    std::transform(values.begin(), values.begin() + row->block_elements, out.begin(), narrow);
  }
}

#endif  // HR_SIMD

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

// HR_FAST_TARGET goes into the namespace of the target, after the kernel: the three decoders of a type for it.
// HR_FAST goes into headrace::quant, once: the decoders that decode.h declares, which pick the target.
#undef HR_FAST_TARGET
#if HR_SIMD
#define HR_FAST_TARGET(stem, Kernel)                                                \
  void stem##_f32_target(std::span<const std::byte> in, std::span<float> out) {     \
    decode_blocks<Kernel, ToF32>(in, out);                                          \
  }                                                                                 \
  void stem##_bf16_target(std::span<const std::byte> in, std::span<uint16_t> out) { \
    decode_blocks<Kernel, ToBf16>(in, out);                                         \
  }                                                                                 \
  void stem##_f16_target(std::span<const std::byte> in, std::span<uint16_t> out) {  \
    decode_blocks<Kernel, ToF16>(in, out);                                          \
  }
#else
#define HR_FAST_TARGET(stem, Kernel)                                                                      \
  void stem##_f32_target(std::span<const std::byte> in, std::span<float> out) { stem##_scalar(in, out); } \
  void stem##_bf16_target(std::span<const std::byte> in, std::span<uint16_t> out) {                       \
    halves_by_twin(stem##_scalar, in, out, f32_to_bf16);                                                  \
  }                                                                                                       \
  void stem##_f16_target(std::span<const std::byte> in, std::span<uint16_t> out) {                        \
    halves_by_twin(stem##_scalar, in, out, f32_to_f16);                                                   \
  }
#endif
#undef HR_FAST_ONE
#define HR_FAST_ONE(name, T) \
  HWY_EXPORT(name##_target); \
  void name##_fast(std::span<const std::byte> in, std::span<T> out) { HWY_DYNAMIC_DISPATCH(name##_target)(in, out); }
#undef HR_FAST
#define HR_FAST(stem)                \
  HR_FAST_ONE(stem##_f32, float)     \
  HR_FAST_ONE(stem##_bf16, uint16_t) \
  HR_FAST_ONE(stem##_f16, uint16_t)

#endif
