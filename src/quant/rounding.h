// Runs of f32 as bf16 or f16: nearest, ties to even, as base/half.h defines it for one value, and a count of what that
// cost. NaNs stay NaNs (quiet, sign and upper payload bits kept) and are not counted as lost.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

namespace headrace {

struct RoundingLoss {
  uint64_t inexact{};      // values that are not what they were
  uint64_t overflowed{};   // of these, finite ones that became infinite
  double largest_error{};  // |rounded - value|, exact; over those that stayed finite

  // Of two runs together; the order does not matter.
  void add(const RoundingLoss& other) {
    inexact += other.inexact;
    overflowed += other.overflowed;
    largest_error = std::max(largest_error, other.largest_error);
  }
  friend bool operator==(const RoundingLoss&, const RoundingLoss&) = default;
};

namespace quant {

// Rounds every value; adds to `loss`. Precondition: in and out have the same size and do not overlap.
using RoundF32 = void (*)(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss);

// By run-time dispatched SIMD. Bits and loss do not depend on the instruction set, nor on how values are cut into runs.
void round_to_bf16(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss);
void round_to_f16(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss);

// Their scalar twins, one value at a time: the truth.
void round_to_bf16_scalar(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss);
void round_to_f16_scalar(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss);

}  // namespace quant

}  // namespace headrace
