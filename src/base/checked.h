// Arithmetic on numbers that a file may have chosen. Every function returns nullopt on overflow.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace headrace {

template <class T>
[[nodiscard]] constexpr std::optional<T> checked_add(T a, T b) {
  T out{};
  if (__builtin_add_overflow(a, b, &out)) return std::nullopt;
  return out;
}

template <class T>
[[nodiscard]] constexpr std::optional<T> checked_mul(T a, T b) {
  T out{};
  if (__builtin_mul_overflow(a, b, &out)) return std::nullopt;
  return out;
}

// Rounds up to a multiple of `alignment`, which must not be 0 (any value, not only powers of two).
[[nodiscard]] constexpr std::optional<uint64_t> checked_align(uint64_t value, uint64_t alignment) {
  const uint64_t rest = value % alignment;
  return rest == 0 ? std::optional(value) : checked_add(value, alignment - rest);
}

[[nodiscard]] constexpr std::optional<int64_t> checked_product(std::span<const int64_t> factors) {
  int64_t out = 1;
  for (const int64_t f : factors) {
    const auto next = checked_mul(out, f);
    if (!next) return std::nullopt;
    out = *next;
  }
  return out;
}

}  // namespace headrace
