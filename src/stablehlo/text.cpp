#include "stablehlo/text.h"

#include <algorithm>
#include <cmath>

namespace headrace::mlir {

namespace {

bool is_bare(std::string_view name) {
  const auto start = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const auto part = [&](char c) { return start(c) || (c >= '0' && c <= '9') || c == '$' || c == '.'; };
  return !name.empty() && start(name.front()) && std::all_of(name.begin(), name.end(), part);
}

// Big-endian hex digits of element i: MLIR's spelling of a float's bits.
std::string bits(const Literal& literal, size_t i) {
  const auto width = static_cast<size_t>(storage_bytes(literal.dtype));
  std::string out = "0x";
  for (size_t b = width; b-- > 0;)
    out += fmt::format("{:02X}", std::to_integer<unsigned>((*literal.bytes)[i * width + b]));
  return out;
}

// Nine significant digits read back to the same f32 and seventeen to the same f64, also through f64 as MLIR parses
// them. That does not hold for 16-bit types, so those are bits; so is everything that decimal text has no word for.
std::string element(const Literal& literal, size_t i) {
  if (literal.dtype == DType::kI1) return literal.int_at(i) != 0 ? "true" : "false";
  if (literal.dtype == DType::kU64) return fmt::format("{}", static_cast<uint64_t>(literal.int_at(i)));
  if (!is_float(literal.dtype)) return fmt::format("{}", literal.int_at(i));
  const double value = literal.at(i);
  const bool decimal = std::isfinite(value) && (literal.dtype == DType::kF64 || literal.dtype == DType::kF32) &&
                       (std::fabs(value) >= 1e-30 || (value == 0 && !std::signbit(value)));
  if (!decimal) return bits(literal, i);
  return literal.dtype == DType::kF64 ? fmt::format("{:.16e}", value) : fmt::format("{:.8e}", value);
}

std::string nested(const Literal& literal, size_t axis, size_t& next) {
  if (axis == literal.sizes.size()) return element(literal, next++);
  std::string out = "[";
  for (int64_t i = 0; i < literal.sizes[axis]; ++i) out += (i == 0 ? "" : ", ") + nested(literal, axis + 1, next);
  return out + "]";
}

}  // namespace

std::string type(const Type& t) {
  std::string out = "tensor<";
  for (const Dim& dim : t.shape) out += dim.is_static() ? fmt::format("{}x", dim.value()) : "?x";
  return out + std::string(info(t.dtype).mlir) + ">";
}

std::string literal(const Literal& value) {
  const Type t{.dtype = value.dtype, .shape = Shape(value.sizes.begin(), value.sizes.end())};
  const bool empty = std::find(value.sizes.begin(), value.sizes.end(), 0) != value.sizes.end();
  size_t next = 0;
  std::string body;
  if (!empty) body = value.splat ? element(value, 0) : nested(value, 0, next);
  return fmt::format("dense<{}> : {}", body, type(t));
}

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\' || byte < 0x20 || byte == 0x7F)
      out += fmt::format("\\{:02X}", byte);
    else
      out += c;
  }
  return out + '"';
}

std::string symbol(std::string_view name) { return is_bare(name) ? fmt::format("@{}", name) : "@" + quoted(name); }

}  // namespace headrace::mlir
