// The decoders that quant.def names, one .cpp per block format, which draws the block. All have the contract of
// DecodeF32.
//
// `scalar` is the format's definition: in f32, each multiply and add rounded on its own (never fused), scales widened
// exactly, subnormals and signed zeros kept. This is what ggml's dequantize_row_* and gguf-py compute, bit for bit; of
// NaNs only that they are NaN. Where the two differ, ggml's C code is the definition.
//
// `fast` gives the same bits. It hands a block with a non-finite scale to `scalar`, because which NaN comes out of
// NaN + NaN depends on the order of operands that a compiler picks.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace headrace::quant {

void f32_scalar(std::span<const std::byte> in, std::span<float> out);
void f16_scalar(std::span<const std::byte> in, std::span<float> out);
void bf16_scalar(std::span<const std::byte> in, std::span<float> out);
void f64_scalar(std::span<const std::byte> in, std::span<float> out);
void i8_scalar(std::span<const std::byte> in, std::span<float> out);
void i16_scalar(std::span<const std::byte> in, std::span<float> out);
void i32_scalar(std::span<const std::byte> in, std::span<float> out);
void i64_scalar(std::span<const std::byte> in, std::span<float> out);
void bool_scalar(std::span<const std::byte> in, std::span<float> out);
void u8_scalar(std::span<const std::byte> in, std::span<float> out);
void u16_scalar(std::span<const std::byte> in, std::span<float> out);
void u32_scalar(std::span<const std::byte> in, std::span<float> out);
void u64_scalar(std::span<const std::byte> in, std::span<float> out);
void f8_e4m3_scalar(std::span<const std::byte> in, std::span<float> out);
void f8_e5m2_scalar(std::span<const std::byte> in, std::span<float> out);
void f8_e8m0_scalar(std::span<const std::byte> in, std::span<float> out);
void f8_e4m3fnuz_scalar(std::span<const std::byte> in, std::span<float> out);
void f8_e5m2fnuz_scalar(std::span<const std::byte> in, std::span<float> out);
void f4_scalar(std::span<const std::byte> in, std::span<float> out);
void q4_0_scalar(std::span<const std::byte> in, std::span<float> out);
void q4_1_scalar(std::span<const std::byte> in, std::span<float> out);
void q5_0_scalar(std::span<const std::byte> in, std::span<float> out);
void q5_1_scalar(std::span<const std::byte> in, std::span<float> out);
void q8_0_scalar(std::span<const std::byte> in, std::span<float> out);
void q8_1_scalar(std::span<const std::byte> in, std::span<float> out);
void q2_k_scalar(std::span<const std::byte> in, std::span<float> out);
void q3_k_scalar(std::span<const std::byte> in, std::span<float> out);
void q4_k_scalar(std::span<const std::byte> in, std::span<float> out);
void q5_k_scalar(std::span<const std::byte> in, std::span<float> out);
void q6_k_scalar(std::span<const std::byte> in, std::span<float> out);
void q8_k_scalar(std::span<const std::byte> in, std::span<float> out);
void iq2_xxs_scalar(std::span<const std::byte> in, std::span<float> out);
void iq2_xs_scalar(std::span<const std::byte> in, std::span<float> out);
void iq2_s_scalar(std::span<const std::byte> in, std::span<float> out);
void iq3_xxs_scalar(std::span<const std::byte> in, std::span<float> out);
void iq3_s_scalar(std::span<const std::byte> in, std::span<float> out);
void iq1_s_scalar(std::span<const std::byte> in, std::span<float> out);
void iq1_m_scalar(std::span<const std::byte> in, std::span<float> out);
void iq4_nl_scalar(std::span<const std::byte> in, std::span<float> out);
void iq4_xs_scalar(std::span<const std::byte> in, std::span<float> out);
void tq1_0_scalar(std::span<const std::byte> in, std::span<float> out);
void tq2_0_scalar(std::span<const std::byte> in, std::span<float> out);
void mxfp4_scalar(std::span<const std::byte> in, std::span<float> out);
void nvfp4_scalar(std::span<const std::byte> in, std::span<float> out);
void q1_0_scalar(std::span<const std::byte> in, std::span<float> out);
void q2_0_scalar(std::span<const std::byte> in, std::span<float> out);

#define HR_FAST_DECODERS(stem)                                                   \
  void stem##_f32_fast(std::span<const std::byte> in, std::span<float> out);     \
  void stem##_bf16_fast(std::span<const std::byte> in, std::span<uint16_t> out); \
  void stem##_f16_fast(std::span<const std::byte> in, std::span<uint16_t> out);
HR_FAST_DECODERS(f32)
HR_FAST_DECODERS(f16)
HR_FAST_DECODERS(bf16)
HR_FAST_DECODERS(f64)
HR_FAST_DECODERS(i8)
HR_FAST_DECODERS(i16)
HR_FAST_DECODERS(i32)
HR_FAST_DECODERS(q4_0)
HR_FAST_DECODERS(q4_1)
HR_FAST_DECODERS(q5_0)
HR_FAST_DECODERS(q5_1)
HR_FAST_DECODERS(q8_0)
HR_FAST_DECODERS(q8_1)
HR_FAST_DECODERS(q2_k)
HR_FAST_DECODERS(q3_k)
HR_FAST_DECODERS(q4_k)
HR_FAST_DECODERS(q5_k)
HR_FAST_DECODERS(q6_k)
HR_FAST_DECODERS(q8_k)
HR_FAST_DECODERS(iq2_xxs)
HR_FAST_DECODERS(iq2_xs)
HR_FAST_DECODERS(iq2_s)
HR_FAST_DECODERS(iq3_xxs)
HR_FAST_DECODERS(iq3_s)
HR_FAST_DECODERS(iq1_s)
HR_FAST_DECODERS(iq1_m)
HR_FAST_DECODERS(iq4_nl)
HR_FAST_DECODERS(iq4_xs)
HR_FAST_DECODERS(tq1_0)
HR_FAST_DECODERS(tq2_0)
HR_FAST_DECODERS(mxfp4)
HR_FAST_DECODERS(nvfp4)
HR_FAST_DECODERS(q1_0)
HR_FAST_DECODERS(q2_0)
#undef HR_FAST_DECODERS

// The i-th block of `in`, copied out: `in` need not be aligned. Block is a struct of the format's exact layout.
template <class Block>
[[nodiscard]] Block load_block(std::span<const std::byte> in, size_t i) {
  Block block;
  std::memcpy(&block, in.data() + i * sizeof(Block), sizeof(Block));
  return block;
}

// True for the bits of an f16 infinity or NaN.
[[nodiscard]] constexpr bool f16_is_special(uint16_t bits) { return (bits & 0x7C00U) == 0x7C00U; }

}  // namespace headrace::quant
