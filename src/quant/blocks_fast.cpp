// Blocks of 32 with one or two f16 scales, and Q8_K, by SIMD, compiled once per instruction set and chosen at run time.
// Bit-equal to the scalar twins, which draw the blocks.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "quant/blocks_fast.cpp"
#include <hwy/foreach_target.h>  // must come before highway.h

#include "quant/fast_inl.h"

HWY_BEFORE_NAMESPACE();
namespace headrace::quant {
namespace HWY_NAMESPACE {

#if HR_SIMD
namespace {

// Two codes a byte: the low nibbles of 16 bytes are the codes of 16 elements, the high nibbles those of the next 16.
HWY_INLINE void split_nibbles(const uint8_t* in, int8_t offset, int8_t* buffer) {
  const Bytes16 bytes;
  const auto less = hn::Set(hn::RebindToSigned<Bytes16>(), offset);
  const auto q = hn::LoadU(bytes, in);
  const auto signed_bytes = hn::RebindToSigned<Bytes16>();
  const auto low = hn::BitCast(signed_bytes, hn::And(q, hn::Set(bytes, uint8_t{15})));
  const auto high = hn::BitCast(signed_bytes, hn::ShiftRight<4>(q));
  hn::StoreU(hn::Sub(low, less), signed_bytes, buffer);
  hn::StoreU(hn::Sub(high, less), signed_bytes, buffer + 16);
}

// The same with a fifth bit from each of the 32 bits of `fifth`.
HWY_INLINE void split_five_bits(const uint8_t* in, const uint8_t* fifth, uint8_t offset, int8_t* buffer) {
  const Bytes16 bytes;
  alignas(16) static constexpr uint8_t kByteOf[16] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1};
  alignas(16) static constexpr uint8_t kBitOf[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
  const hn::Repartition<uint16_t, Bytes16> pairs;
  const auto bit = hn::Load(bytes, kBitOf);
  const auto q = hn::LoadU(bytes, in);
  const auto code = [&](auto nibbles, uint16_t bits) HWY_ATTR {
    const auto spread = hn::TableLookupBytes(hn::BitCast(bytes, hn::Set(pairs, bits)), hn::Load(bytes, kByteOf));
    const auto is_set = hn::Eq(hn::And(spread, bit), bit);
    const auto whole = hn::Or(nibbles, hn::IfThenElseZero(is_set, hn::Set(bytes, uint8_t{16})));
    return hn::Sub(whole, hn::Set(bytes, offset));
  };
  auto* out = reinterpret_cast<uint8_t*>(buffer);
  hn::StoreU(code(hn::And(q, hn::Set(bytes, uint8_t{15})), load<uint16_t>(fifth)), bytes, out);
  hn::StoreU(code(hn::ShiftRight<4>(q), load<uint16_t>(fifth + 2)), bytes, out + 16);
}

struct Q40 : Geometry<18, 32, 32, q4_0_scalar>, OneHalf<0> {
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    split_nibbles(in + 2, 8, buffer);
    return buffer;
  }
};

struct Q41 : Geometry<20, 32, 32, q4_1_scalar>, TwoHalves {
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    split_nibbles(in + 4, 0, buffer);
    return buffer;
  }
};

struct Q50 : Geometry<22, 32, 32, q5_0_scalar>, OneHalf<0> {
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    split_five_bits(in + 6, in + 2, 16, buffer);
    return buffer;
  }
};

struct Q51 : Geometry<24, 32, 32, q5_1_scalar>, TwoHalves {
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t* buffer) {
    split_five_bits(in + 8, in + 4, 0, buffer);
    return buffer;
  }
};

struct Q80 : Geometry<34, 32, 32, q8_0_scalar>, OneHalf<0> {
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t*) { return reinterpret_cast<const int8_t*>(in + 2); }
};

struct Q81 : Geometry<36, 32, 32, q8_1_scalar>, OneHalf<0> {
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t*) { return reinterpret_cast<const int8_t*>(in + 4); }
};

struct Q8K : Geometry<292, 256, 256, q8_k_scalar> {
  static HWY_INLINE bool scales(const uint8_t* in, float* scale) {
    *scale = load<float>(in);
    return (load<uint32_t>(in) & 0x7F800000U) != 0x7F800000U;
  }
  static HWY_INLINE const int8_t* codes(const uint8_t* in, int8_t*) { return reinterpret_cast<const int8_t*>(in + 4); }
};

}  // namespace
#endif

HR_FAST_TARGET(q4_0, Q40)
HR_FAST_TARGET(q4_1, Q41)
HR_FAST_TARGET(q5_0, Q50)
HR_FAST_TARGET(q5_1, Q51)
HR_FAST_TARGET(q8_0, Q80)
HR_FAST_TARGET(q8_1, Q81)
HR_FAST_TARGET(q8_k, Q8K)

}  // namespace HWY_NAMESPACE
}  // namespace headrace::quant
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace headrace::quant {

HR_FAST(q4_0)
HR_FAST(q4_1)
HR_FAST(q5_0)
HR_FAST(q5_1)
HR_FAST(q8_0)
HR_FAST(q8_1)
HR_FAST(q8_k)

}  // namespace headrace::quant
#endif
