#include "quant/block_type.h"

#include <algorithm>
#include <array>
#include <bit>

#include "base/result.h"
#include "quant/decode.h"

namespace headrace {

static_assert(std::endian::native == std::endian::little, "checkpoints are little-endian and are decoded in place");

namespace {

constexpr BlockTypeInfo kTable[] = {
#define HR_BLOCK_TYPE(enumerator, ...) {__VA_ARGS__},
#include "quant/quant.def"
};

constexpr std::array<uint32_t, 8> kRetiredGgufIds = {4, 5, 31, 32, 33, 36, 37, 38};

constexpr size_t kIdLimit = 64;

// ggml id -> index into kTable, or -1.
constexpr auto kByGgufId = [] {
  std::array<int8_t, kIdLimit> out{};
  out.fill(-1);
  for (size_t i = 0; i < std::size(kTable); ++i)
    if (kTable[i].gguf_id != kNoGgufId) out[kTable[i].gguf_id] = static_cast<int8_t>(i);
  return out;
}();

void check_sizes(const BlockTypeInfo& row, size_t in_bytes, size_t out_elements) {
  HR_CHECK(row.scalar != nullptr);
  const size_t blocks = in_bytes / static_cast<size_t>(row.block_bytes);
  HR_CHECK(in_bytes == blocks * static_cast<size_t>(row.block_bytes));
  HR_CHECK(out_elements == blocks * static_cast<size_t>(row.block_elements));
}

// In pieces that stay in the first-level cache.
void decode_and_round(const BlockTypeInfo& row, std::span<const std::byte> in, std::span<uint16_t> out,
                      DecodeHalf round) {
  constexpr size_t kPiece = 2048;
  std::array<float, kPiece> buffer;
  const auto block_elements = static_cast<size_t>(row.block_elements);
  const auto block_bytes = static_cast<size_t>(row.block_bytes);
  const size_t whole = kPiece / block_elements * block_elements;
  while (!out.empty()) {
    const size_t count = std::min(out.size(), whole);
    const size_t bytes = count / block_elements * block_bytes;
    const std::span<float> values(buffer.data(), count);
    (row.fast != nullptr ? row.fast : row.scalar)(in.first(bytes), values);
    round(std::as_bytes(values), out.first(count));
    in = in.subspan(bytes);
    out = out.subspan(count);
  }
}

}  // namespace

const BlockTypeInfo& info(BlockType type) { return kTable[static_cast<size_t>(type)]; }

std::span<const BlockTypeInfo> block_type_table() { return kTable; }

std::optional<BlockType> block_type_from_gguf(uint32_t id) {
  if (id >= kIdLimit || kByGgufId[id] < 0) return std::nullopt;
  return static_cast<BlockType>(kByGgufId[id]);
}

std::optional<BlockType> block_type_from_safetensors(std::string_view dtype) {
  const auto* const row =
      dtype.empty() ? std::end(kTable) : std::ranges::find(kTable, dtype, &BlockTypeInfo::safetensors);
  if (row == std::end(kTable)) return std::nullopt;
  return static_cast<BlockType>(row - kTable);
}

bool is_retired_gguf_id(uint32_t id) { return std::ranges::find(kRetiredGgufIds, id) != kRetiredGgufIds.end(); }

void decode_f32(BlockType type, std::span<const std::byte> in, std::span<float> out) {
  const BlockTypeInfo& row = info(type);
  check_sizes(row, in.size(), out.size());
  (row.fast != nullptr ? row.fast : row.scalar)(in, out);
}

void decode_bf16(BlockType type, std::span<const std::byte> in, std::span<uint16_t> out) {
  const BlockTypeInfo& row = info(type);
  check_sizes(row, in.size(), out.size());
  if (row.fast_bf16 != nullptr) return row.fast_bf16(in, out);
  decode_and_round(row, in, out, quant::f32_bf16_fast);
}

void decode_f16(BlockType type, std::span<const std::byte> in, std::span<uint16_t> out) {
  const BlockTypeInfo& row = info(type);
  check_sizes(row, in.size(), out.size());
  if (row.fast_f16 != nullptr) return row.fast_f16(in, out);
  decode_and_round(row, in, out, quant::f32_f16_fast);
}

}  // namespace headrace
