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
  for (size_t i = 0; i < std::size(kTable); ++i) out[kTable[i].gguf_id] = static_cast<int8_t>(i);
  return out;
}();

}  // namespace

const BlockTypeInfo& info(BlockType type) { return kTable[static_cast<size_t>(type)]; }

std::span<const BlockTypeInfo> block_type_table() { return kTable; }

std::optional<BlockType> block_type_from_gguf(uint32_t id) {
  if (id >= kIdLimit || kByGgufId[id] < 0) return std::nullopt;
  return static_cast<BlockType>(kByGgufId[id]);
}

bool is_retired_gguf_id(uint32_t id) { return std::ranges::find(kRetiredGgufIds, id) != kRetiredGgufIds.end(); }

void decode_f32(BlockType type, std::span<const std::byte> in, std::span<float> out) {
  const BlockTypeInfo& row = info(type);
  HR_CHECK(row.scalar != nullptr);
  const size_t blocks = in.size() / static_cast<size_t>(row.block_bytes);
  HR_CHECK(in.size() == blocks * static_cast<size_t>(row.block_bytes));
  HR_CHECK(out.size() == blocks * static_cast<size_t>(row.block_elements));
  (row.fast != nullptr ? row.fast : row.scalar)(in, out);
}

}  // namespace headrace
