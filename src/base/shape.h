// Dimensions and shapes with symbols. A dim is an integer or an affine expression of named symbols, such as
// `past + seq` or `2*seq + 1`; equal expressions are equal dims. Sentinels (-1) and anonymous `?` do not exist here:
// only the emitter prints `?`, for a dim that is still symbolic.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace headrace {

class Dim {
 public:
  Dim() = default;
  Dim(int64_t value) : constant_(value) {}  // NOLINT(google-explicit-constructor): shapes read as {1, seq, 64}
  [[nodiscard]] static Dim symbol(std::string name);

  [[nodiscard]] bool is_static() const { return terms_.empty(); }
  // The value of a static dim. Precondition: is_static().
  [[nodiscard]] int64_t value() const;
  [[nodiscard]] int64_t constant() const { return constant_; }
  // Symbol and non-zero coefficient, sorted by symbol.
  [[nodiscard]] const std::vector<std::pair<std::string, int64_t>>& terms() const { return terms_; }

  friend Dim operator+(const Dim& a, const Dim& b);
  friend Dim operator-(const Dim& a, const Dim& b);
  friend Dim operator*(const Dim& a, int64_t factor);
  friend bool operator==(const Dim&, const Dim&) = default;
  friend auto operator<=>(const Dim&, const Dim&) = default;

 private:
  std::vector<std::pair<std::string, int64_t>> terms_;
  int64_t constant_ = 0;
};

using Shape = std::vector<Dim>;

// Symbol -> value, for evaluation and specialisation.
using SymbolValues = std::map<std::string, int64_t, std::less<>>;

[[nodiscard]] std::string to_string(const Dim& dim);      // `past + seq`, `2*seq - 1`, `64`
[[nodiscard]] std::string to_string(const Shape& shape);  // `[1, seq, 64]`
// Parses what to_string prints. Errors: kHirParse.
[[nodiscard]] Result<Dim> parse_dim(std::string_view text);

[[nodiscard]] bool is_static(const Shape& shape);
// Elements of a static shape; nullopt when symbolic or beyond 2^63 - 1.
[[nodiscard]] std::optional<int64_t> elements(const Shape& shape);
// The same with every symbol that `values` knows replaced.
[[nodiscard]] Dim substitute(const Dim& dim, const SymbolValues& values);
[[nodiscard]] Shape substitute(const Shape& shape, const SymbolValues& values);
// All-integer form. Precondition: is_static(shape).
[[nodiscard]] std::vector<int64_t> static_sizes(const Shape& shape);

// True when both shapes hold the same number of elements for every value of their symbols. The products of affine
// factors are compared in a normal form (content pulled out, factors sorted); two products that agree only after
// multiplying out, such as (a + b)(a - b) and an a^2-b^2 that no dim can express, do not occur.
[[nodiscard]] bool same_elements(const Shape& a, const Shape& b);

}  // namespace headrace
