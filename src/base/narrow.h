// f64 to f16 and bf16 with one rounding (nearest, ties to even). Going through f32 would round twice.
#pragma once

#include <bit>
#include <cstdint>

#include "base/half.h"

namespace headrace {

// f64 to f32, rounded to odd: an inexact value keeps a set last bit, so that a further rounding to fewer than 23 bits
// sees on which side of a tie it was.
[[nodiscard]] constexpr float f64_to_f32_odd(double value) {
  const float nearest = static_cast<float>(value);
  const double back = static_cast<double>(nearest);
  const uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (back == value || value != value || (bits & 1U) != 0) return nearest;
  // The neighbour on the other side of `value` is odd. Magnitudes are ordered as their bits are; an overflow to
  // infinity steps back to the largest finite value.
  const bool too_large = (back > value) == (back > 0);
  if (bits << 1 == 0) return std::bit_cast<float>((value < 0 ? 0x80000000U : 0U) | 1U);
  return std::bit_cast<float>(too_large ? bits - 1 : bits + 1);
}

[[nodiscard]] constexpr uint16_t f64_to_f16(double value) { return f32_to_f16(f64_to_f32_odd(value)); }
[[nodiscard]] constexpr uint16_t f64_to_bf16(double value) { return f32_to_bf16(f64_to_f32_odd(value)); }

}  // namespace headrace
