// Codes of one or two bits: TQ1_0, TQ2_0, Q1_0 and Q2_0, by SIMD, compiled once per instruction set and chosen at run
// time. Bit-equal to the scalar twins, which draw the blocks.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/ternary_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quant/codebooks.h"
#include "quant/fast_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

#if HR_SIMD
namespace {

// The digits of kCount bytes, less one, most significant first: one digit of every byte, then the next.
template <class D>
HWY_INLINE void base_3(D bytes, const uint8_t* in, size_t count, size_t digits, uint8_t* out) {
  for (size_t m = 0; m < count; m += hn::Lanes(bytes)) {
    auto q = hn::LoadU(bytes, in + m);
    for (size_t n = 0; n < digits; ++n) {
      // The digit is q * 3 / 256: 1 from 86 on, 2 from 171 on. A true mask is -1.
      const auto one = hn::VecFromMask(bytes, hn::Eq(hn::Max(q, hn::Set(bytes, uint8_t{86})), q));
      const auto two = hn::VecFromMask(bytes, hn::Eq(hn::Max(q, hn::Set(bytes, uint8_t{171})), q));
      hn::StoreU(hn::Sub(hn::Set(bytes, uint8_t{0xFF}), hn::Add(one, two)), bytes, out + n * count + m);
      q = hn::Add(q, hn::Add(q, q));
    }
  }
}

struct Tq10 : Geometry<54, 256, 256, tq1_0_scalar>, OneHalf<52> {
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    auto* out = reinterpret_cast<uint8_t*>(buffer);
    base_3(Bytes32(), in, 32, 5, out);
    base_3(Bytes16(), in + 32, 16, 5, out + 160);
    base_3(hn::CappedTag<uint8_t, 4>(), in + 48, 4, 4, out + 240);
    return buffer;
  }
};

struct Tq20 : Geometry<66, 256, 256, tq2_0_scalar>, OneHalf<64> {
  template <int kShift, class V>
  static HWY_INLINE V code(V q) {
    return hn::Sub(hn::And(hn::ShiftRight<kShift>(q), hn::Set(Bytes32(), uint8_t{3})), hn::Set(Bytes32(), uint8_t{1}));
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    auto* out = reinterpret_cast<uint8_t*>(buffer);
    for (size_t half = 0; half < 2; ++half, out += 128) {
      for (size_t l = 0; l < 32; l += hn::Lanes(Bytes32())) {
        const auto q = hn::LoadU(Bytes32(), in + half * 32 + l);
        hn::StoreU(code<0>(q), Bytes32(), out + l);
        hn::StoreU(code<2>(q), Bytes32(), out + 32 + l);
        hn::StoreU(code<4>(q), Bytes32(), out + 64 + l);
        hn::StoreU(code<6>(q), Bytes32(), out + 96 + l);
      }
    }
    return buffer;
  }
};

struct Q10 : Geometry<18, 128, 128, q1_0_scalar>, OneHalf<0> {
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    for (size_t i = 0; i < 16; ++i) {
      const uint64_t eight = with_signs(0x0101010101010101U, kSignMasks[in[2 + i] ^ 0xFFU]);
      std::memcpy(buffer + i * 8, &eight, sizeof(eight));
    }
    return buffer;
  }
};

struct Q20 : Geometry<18, 64, 64, q2_0_scalar>, OneHalf<0> {
  template <int kShift, class V>
  static HWY_INLINE V code(V q) {
    return hn::Sub(hn::And(hn::ShiftRight<kShift>(q), hn::Set(Bytes16(), uint8_t{3})), hn::Set(Bytes16(), uint8_t{1}));
  }

  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    const hn::Repartition<uint16_t, Bytes16> pairs;
    const auto q = hn::LoadU(Bytes16(), in + 2);
    const auto c0 = code<0>(q);
    const auto c1 = code<2>(q);
    const auto c2 = code<4>(q);
    const auto c3 = code<6>(q);
    const auto first = hn::BitCast(pairs, hn::InterleaveLower(Bytes16(), c0, c1));
    const auto second = hn::BitCast(pairs, hn::InterleaveLower(Bytes16(), c2, c3));
    const auto third = hn::BitCast(pairs, hn::InterleaveUpper(Bytes16(), c0, c1));
    const auto fourth = hn::BitCast(pairs, hn::InterleaveUpper(Bytes16(), c2, c3));
    auto* out = reinterpret_cast<uint16_t*>(buffer);
    hn::StoreU(hn::InterleaveLower(pairs, first, second), pairs, out);
    hn::StoreU(hn::InterleaveUpper(pairs, first, second), pairs, out + 8);
    hn::StoreU(hn::InterleaveLower(pairs, third, fourth), pairs, out + 16);
    hn::StoreU(hn::InterleaveUpper(pairs, third, fourth), pairs, out + 24);
    return buffer;
  }
};

}  // namespace
#endif

HR_FAST_TARGET(tq1_0, Tq10)
HR_FAST_TARGET(tq2_0, Tq20)
HR_FAST_TARGET(q1_0, Q10)
HR_FAST_TARGET(q2_0, Q20)

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HR_FAST(tq1_0)
HR_FAST(tq2_0)
HR_FAST(q1_0)
HR_FAST(q2_0)

}  // namespace headrace::quant
#endif
