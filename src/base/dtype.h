// Element types of graph tensors, from the table dtype.def.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace headrace {

enum class DType : uint8_t {
#define HR_DTYPE(name, ...) name,
#include "base/dtype.def"
};

enum class DTypeKind : uint8_t { kBool, kInt, kUint, kFloat };

struct DTypeInfo {
  std::string_view name;  // HIR text and the command line
  int bits{};             // of the value; storage is storage_bytes()
  DTypeKind kind{};
  std::string_view mlir;         // StableHLO text
  std::string_view safetensors;  // safetensors header
  std::string_view numpy;        // .npy descriptor, "" where numpy has none
};

inline constexpr DTypeInfo kDTypeTable[] = {
#define HR_DTYPE(enumerator, ...) {__VA_ARGS__},
#include "base/dtype.def"
};

[[nodiscard]] constexpr const DTypeInfo& info(DType dtype) { return kDTypeTable[static_cast<size_t>(dtype)]; }
[[nodiscard]] constexpr std::string_view name(DType dtype) { return info(dtype).name; }
// Bytes of one element in memory and in files; i1 takes a whole byte in both.
[[nodiscard]] constexpr int64_t storage_bytes(DType dtype) { return info(dtype).bits == 1 ? 1 : info(dtype).bits / 8; }
[[nodiscard]] constexpr bool is_float(DType dtype) { return info(dtype).kind == DTypeKind::kFloat; }
[[nodiscard]] constexpr bool is_integer(DType dtype) {
  return info(dtype).kind == DTypeKind::kInt || info(dtype).kind == DTypeKind::kUint;
}
[[nodiscard]] constexpr std::optional<DType> parse_dtype(std::string_view text) {
  for (size_t i = 0; i < std::size(kDTypeTable); ++i)
    if (kDTypeTable[i].name == text) return static_cast<DType>(i);
  return std::nullopt;
}

}  // namespace headrace
