// The element encodings a container may use for a tensor: plain numbers and block-quantised or packed formats, one row
// each in quant.def. A row gives the geometry (elements and bytes per block) and, where we can decode, the functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/dtype.h"

namespace headrace {

enum class BlockType : uint8_t {
#define HR_BLOCK_TYPE(enumerator, ...) enumerator,
#include "quant/quant.def"
};

// Decodes whole blocks. Sizes agree: in.size() = blocks * block_bytes, out.size() = blocks * block_elements.
// `in` needs no alignment; `in` and `out` do not overlap.
using DecodeF32 = void (*)(std::span<const std::byte> in, std::span<float> out);

// The same with the values rounded to bf16 or f16, to nearest, ties to even: the bits of base/half.h's f32_to_bf16 or
// f32_to_f16 of what DecodeF32 gives.
using DecodeHalf = void (*)(std::span<const std::byte> in, std::span<uint16_t> out);

// A type that no GGUF can name.
inline constexpr uint32_t kNoGgufId = UINT32_MAX;

struct BlockTypeInfo {
  std::string_view name;           // the container's name for it: "Q4_1", "F8_E4M3"
  uint32_t gguf_id{kNoGgufId};     // ggml_type
  std::string_view safetensors{};  // `dtype` in a safetensors header; empty: no safetensors file can name it
  int64_t block_elements{1};
  int64_t block_bytes{};
  std::optional<DType> plain{};   // the graph dtype with the same bytes, for unquantised types
  DecodeF32 scalar{nullptr};      // the truth: the format's definition, one element at a time; null = cannot decode
  DecodeF32 fast{nullptr};        // bit-equal to `scalar`, run-time dispatched SIMD; null = scalar is used
  DecodeHalf fast_bf16{nullptr};  // null: decoded to f32, then rounded
  DecodeHalf fast_f16{nullptr};
};

[[nodiscard]] const BlockTypeInfo& info(BlockType type);
[[nodiscard]] inline std::string_view name(BlockType type) { return info(type).name; }
// All rows, in the order of the enum.
[[nodiscard]] std::span<const BlockTypeInfo> block_type_table();
// Of a ggml type id; nullopt for retired and unknown ids.
[[nodiscard]] std::optional<BlockType> block_type_from_gguf(uint32_t id);
// Of a safetensors dtype, spelt exactly so; nullopt for unknown ones.
[[nodiscard]] std::optional<BlockType> block_type_from_safetensors(std::string_view dtype);
// True for ids that ggml once used and removed: files that hold them must be converted again.
[[nodiscard]] bool is_retired_gguf_id(uint32_t id);

[[nodiscard]] inline bool can_decode(BlockType type) { return info(type).scalar != nullptr; }
// Decodes whole blocks by the fast path where there is one. The result does not depend on the path, nor on how a tensor
// is cut into calls. Preconditions (checked): can_decode(type); sizes as for DecodeF32.
void decode_f32(BlockType type, std::span<const std::byte> in, std::span<float> out);
// To bf16 or f16 bits in one step, with the result of decode_f32 and then rounding each value as base/half.h does.
void decode_bf16(BlockType type, std::span<const std::byte> in, std::span<uint16_t> out);
void decode_f16(BlockType type, std::span<const std::byte> in, std::span<uint16_t> out);

}  // namespace headrace
