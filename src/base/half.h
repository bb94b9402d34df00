// f16 and bf16 bits to and from f32, exactly: widening is lossless, narrowing rounds to nearest, ties to even.
// Signalling NaNs become quiet on narrowing and keep what fits of their payload. Subnormals are kept, never flushed.
// (Compiler types are no help: clang 14 has no _Float16 on x86-64, and Highway 1.0.3 truncates f32 to bf16.)
#pragma once

#include <bit>
#include <cstdint>

namespace headrace {

[[nodiscard]] constexpr float bf16_to_f32(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

[[nodiscard]] constexpr uint16_t f32_to_bf16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7FFFFFFFU) > 0x7F800000U) return static_cast<uint16_t>((bits >> 16) | 0x40U);
  return static_cast<uint16_t>((bits + 0x7FFFU + ((bits >> 16) & 1U)) >> 16);
}

[[nodiscard]] constexpr float f16_to_f32(uint16_t bits) {
  const uint32_t sign = static_cast<uint32_t>(bits & 0x8000U) << 16;
  const uint32_t exponent = (bits >> 10) & 0x1FU;
  const uint32_t mantissa = bits & 0x3FFU;
  if (exponent == 0x1FU) return std::bit_cast<float>(sign | 0x7F800000U | (mantissa << 13));
  if (exponent != 0) return std::bit_cast<float>(sign | ((exponent + 112) << 23) | (mantissa << 13));
  // Subnormal or zero: mantissa * 2^-24, exact in f32.
  const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
  return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
}

[[nodiscard]] constexpr uint16_t f32_to_f16(float value) {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000U;
  const uint32_t magnitude = bits & 0x7FFFFFFFU;
  if (magnitude > 0x7F800000U) return static_cast<uint16_t>(sign | 0x7E00U | ((magnitude >> 13) & 0x3FFU));
  if (magnitude >= 0x477FF000U) return static_cast<uint16_t>(sign | 0x7C00U);  // rounds to 2^16 or beyond
  if (magnitude < 0x38800000U) {  // below 2^-14: subnormal; adding 0.5 lets the FPU round at bit 2^-24
    const uint32_t shifted = std::bit_cast<uint32_t>(std::bit_cast<float>(magnitude) + 0.5F);
    return static_cast<uint16_t>(sign | (shifted - std::bit_cast<uint32_t>(0.5F)));
  }
  const uint32_t rounded = magnitude - 0x38000000U + 0xFFFU + ((magnitude >> 13) & 1U);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

}  // namespace headrace
