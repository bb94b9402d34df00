// Attributes: the compile-time arguments of a node. An op's definition lists them by name and kind (AttrSpec); a node
// holds their values in that order. There are no optional attributes: what is not written down cannot be guessed.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/dtype.h"
#include "base/result.h"
#include "base/shape.h"
#include "ir/type.h"

namespace headrace {

// True when an integer type holds the value. u64 travels as the int64_t of the same bits, so it takes every one.
[[nodiscard]] bool in_range(DType dtype, int64_t value);

// A dense constant of static shape. `bytes` are little-endian elements in row-major order, or one element when `splat`.
// Compared by value and shared between graphs.
struct Literal {
  DType dtype{};
  std::vector<int64_t> sizes;
  bool splat{};
  std::shared_ptr<const std::vector<std::byte>> bytes;

  friend bool operator==(const Literal& a, const Literal& b) {
    return a.dtype == b.dtype && a.sizes == b.sizes && a.splat == b.splat && *a.bytes == *b.bytes;
  }
  // A splat of `value`, rounded to `dtype` (round to nearest even; integers must be in range, checked).
  [[nodiscard]] static Literal filled(DType dtype, std::vector<int64_t> sizes, double value);
  [[nodiscard]] static Literal of_ints(DType dtype, std::vector<int64_t> sizes, const std::vector<int64_t>& values);
  // Element i (of the flattened tensor) as a double; exact for all but 64-bit integers beyond 2^53.
  [[nodiscard]] double at(size_t i) const;
  [[nodiscard]] int64_t int_at(size_t i) const;
};

enum class AttrKind : uint8_t { kInt, kFloat, kString, kInts, kShape, kDType, kLiteral, kTypes };

// Alternatives in the order of AttrKind. Floats compare and hash by bits.
using Attr = std::variant<int64_t, double, std::string, std::vector<int64_t>, Shape, DType, Literal, std::vector<Type>>;

struct AttrSpec {
  std::string_view name;
  AttrKind kind{};
};

[[nodiscard]] bool same(const Attr& a, const Attr& b);
[[nodiscard]] size_t hash(const Attr& attr);

}  // namespace headrace
