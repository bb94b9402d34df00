// Scalar meaning of the two-operand ops, shared by the elementwise evaluation and by reductions. Each struct has `real`
// and/or `integer`; integers come and go as int64_t and are wrapped to their type by the caller. u64 is held as the
// int64_t of the same bits, hence the unsigned branches. Choices where the specification leaves the result open follow
// XLA: x / 0 = -1 (all ones), x rem 0 = x, least / -1 = least; shifting by the width or more (the amount read as
// unsigned) gives 0, or the sign for arithmetic shifts; an integer to a negative power is 0 unless its base is 1 or -1.
// On i1, add and maximum are `or`, multiply and minimum are `and`.
#pragma once

#include <cmath>

#include "ops/def.h"

namespace headrace::ops::scalar {

inline uint64_t bits(int64_t x) { return static_cast<uint64_t>(x); }
inline int64_t value(uint64_t x) { return static_cast<int64_t>(x); }
inline bool is_unsigned(DType dtype) { return info(dtype).kind != DTypeKind::kInt; }
inline bool less(DType dtype, int64_t a, int64_t b) { return is_unsigned(dtype) ? bits(a) < bits(b) : a < b; }
// A shift amount that clears every bit.
inline bool shifts_out(DType dtype, int64_t amount) { return bits(amount) >= static_cast<uint64_t>(info(dtype).bits); }

inline constexpr Kinds kAll = kAnything;

struct Add {
  static constexpr std::string_view kName = "add", kSummary = "sum; i1: or";
  static constexpr Kinds kKinds = kAll;
  template <class F>
  static F real(F a, F b) {
    return a + b;
  }
  static int64_t integer(DType dtype, int64_t a, int64_t b) {
    return dtype == DType::kI1 ? a | b : value(bits(a) + bits(b));
  }
};
struct And {
  static constexpr std::string_view kName = "and", kSummary = "bitwise and";
  static constexpr Kinds kKinds = kBits;
  static int64_t integer(DType, int64_t a, int64_t b) { return a & b; }
};
struct Divide {
  static constexpr std::string_view kName = "divide", kSummary = "quotient; integers truncate towards zero";
  static constexpr Kinds kKinds = kNumbers;
  template <class F>
  static F real(F a, F b) {
    return a / b;
  }
  static int64_t integer(DType dtype, int64_t a, int64_t b) {
    if (b == 0) return -1;
    if (is_unsigned(dtype)) return value(bits(a) / bits(b));
    return b == -1 ? value(-bits(a)) : a / b;
  }
};
struct Maximum {
  static constexpr std::string_view kName = "maximum", kSummary = "the larger; NaN if either is; +0 above -0; i1: or";
  static constexpr Kinds kKinds = kAll;
  template <class F>
  static F real(F a, F b) {
    if (a > b || std::isnan(a)) return a;
    if (b > a || std::isnan(b)) return b;
    return std::signbit(a) ? b : a;
  }
  static int64_t integer(DType dtype, int64_t a, int64_t b) { return less(dtype, a, b) ? b : a; }
};
struct Minimum {
  static constexpr std::string_view kName = "minimum", kSummary = "the smaller; NaN if either is; -0 below +0; i1: and";
  static constexpr Kinds kKinds = kAll;
  template <class F>
  static F real(F a, F b) {
    if (a < b || std::isnan(a)) return a;
    if (b < a || std::isnan(b)) return b;
    return std::signbit(a) ? a : b;
  }
  static int64_t integer(DType dtype, int64_t a, int64_t b) { return less(dtype, a, b) ? a : b; }
};
struct Multiply {
  static constexpr std::string_view kName = "multiply", kSummary = "product; i1: and";
  static constexpr Kinds kKinds = kAll;
  template <class F>
  static F real(F a, F b) {
    return a * b;
  }
  static int64_t integer(DType, int64_t a, int64_t b) { return value(bits(a) * bits(b)); }
};
struct Or {
  static constexpr std::string_view kName = "or", kSummary = "bitwise or";
  static constexpr Kinds kKinds = kBits;
  static int64_t integer(DType, int64_t a, int64_t b) { return a | b; }
};
struct Power {
  static constexpr std::string_view kName = "power", kSummary = "the first operand to the power of the second";
  static constexpr Kinds kKinds = kNumbers;
  template <class F>
  static F real(F a, F b) {
    return std::pow(a, b);
  }
  static int64_t integer(DType dtype, int64_t a, int64_t b) {
    if (!is_unsigned(dtype) && b < 0) return a == 1 ? 1 : a == -1 ? ((b & 1) != 0 ? -1 : 1) : 0;
    uint64_t result = 1;
    uint64_t square = bits(a);
    for (uint64_t left = bits(b); left != 0; left >>= 1, square *= square)
      if ((left & 1U) != 0) result *= square;
    return value(result);
  }
};
struct Remainder {
  static constexpr std::string_view kName = "remainder", kSummary = "what division leaves, with the dividend's sign";
  static constexpr Kinds kKinds = kNumbers;
  template <class F>
  static F real(F a, F b) {
    return std::fmod(a, b);
  }
  static int64_t integer(DType dtype, int64_t a, int64_t b) {
    if (b == 0) return a;
    if (is_unsigned(dtype)) return value(bits(a) % bits(b));
    return b == -1 ? 0 : a % b;
  }
};
struct ShiftLeft {
  static constexpr std::string_view kName = "shift_left", kSummary = "bits moved up, zeros come in";
  static constexpr Kinds kKinds = kIntegers;
  static int64_t integer(DType dtype, int64_t a, int64_t b) { return shifts_out(dtype, b) ? 0 : value(bits(a) << b); }
};
struct ShiftRightArithmetic {
  static constexpr std::string_view kName = "shift_right_arithmetic",
                                    kSummary = "bits moved down, the top bit comes in";
  static constexpr Kinds kKinds = kIntegers;
  static int64_t integer(DType dtype, int64_t a, int64_t b) {
    const int unused = 64 - info(dtype).bits;  // the top bit counts as a sign in unsigned types too
    const int64_t extended = value(bits(a) << unused) >> unused;
    return extended >> (shifts_out(dtype, b) ? 63 : b);
  }
};
struct ShiftRightLogical {
  static constexpr std::string_view kName = "shift_right_logical", kSummary = "bits moved down, zeros come in";
  static constexpr Kinds kKinds = kIntegers;
  static int64_t integer(DType dtype, int64_t a, int64_t b) {
    const int unused = 64 - info(dtype).bits;
    return shifts_out(dtype, b) ? 0 : value(((bits(a) << unused) >> unused) >> b);
  }
};
struct Subtract {
  static constexpr std::string_view kName = "subtract", kSummary = "difference";
  static constexpr Kinds kKinds = kNumbers;
  template <class F>
  static F real(F a, F b) {
    return a - b;
  }
  static int64_t integer(DType, int64_t a, int64_t b) { return value(bits(a) - bits(b)); }
};
struct Xor {
  static constexpr std::string_view kName = "xor", kSummary = "bitwise exclusive or";
  static constexpr Kinds kKinds = kBits;
  static int64_t integer(DType, int64_t a, int64_t b) { return a ^ b; }
};

}  // namespace headrace::ops::scalar
