#include "quant/block_type.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace headrace {
namespace {

TEST(BlockTypeTable, EveryRowIsConsistent) {
  std::set<std::string_view> names;
  std::set<std::string_view> dtypes;
  std::set<uint32_t> ids;
  for (size_t i = 0; i < block_type_table().size(); ++i) {
    const BlockTypeInfo& row = block_type_table()[i];
    SCOPED_TRACE(std::string(row.name));
    EXPECT_TRUE(names.insert(row.name).second) << "name repeated";
    EXPECT_TRUE(row.gguf_id == kNoGgufId || ids.insert(row.gguf_id).second) << "id repeated";
    EXPECT_TRUE(row.safetensors.empty() || dtypes.insert(row.safetensors).second) << "dtype repeated";
    EXPECT_TRUE(row.gguf_id != kNoGgufId || !row.safetensors.empty()) << "no container can name it";
    EXPECT_GT(row.block_elements, 0);
    EXPECT_GT(row.block_bytes, 0);
    EXPECT_EQ(&info(static_cast<BlockType>(i)), &row);
    if (row.gguf_id != kNoGgufId) {
      EXPECT_EQ(block_type_from_gguf(row.gguf_id), static_cast<BlockType>(i));
    }
    if (!row.safetensors.empty()) {
      EXPECT_EQ(block_type_from_safetensors(row.safetensors), static_cast<BlockType>(i));
    }
    EXPECT_FALSE(is_retired_gguf_id(row.gguf_id));
    if (row.plain) {
      EXPECT_EQ(row.block_elements, 1);
      EXPECT_EQ(row.block_bytes, storage_bytes(*row.plain));
      EXPECT_EQ(row.safetensors, info(*row.plain).safetensors) << "what is written can be read";
    }
    if (row.fast != nullptr) {
      EXPECT_NE(row.scalar, nullptr) << "a fast path needs its scalar twin";
    }
    EXPECT_EQ(can_decode(static_cast<BlockType>(i)), row.scalar != nullptr);
  }
}

// Every id that ggml has given and not taken back.
TEST(BlockTypeTable, EveryTypeIsDecoded) {
  size_t found = 0;
  for (uint32_t id = 0; id <= 42; ++id) {
    const auto type = block_type_from_gguf(id);
    EXPECT_NE(type.has_value(), is_retired_gguf_id(id)) << id;
    if (!type) continue;
    EXPECT_TRUE(can_decode(*type)) << name(*type);
    ++found;
  }
  EXPECT_EQ(found, 35U);
  EXPECT_EQ(found, std::ranges::count_if(block_type_table(), [](const auto& row) { return row.gguf_id != kNoGgufId; }));
}

// The Dtype of the reference implementation with its widths in bits, all of it.
TEST(BlockTypeTable, HasEverySafetensorsDtype) {
  const std::pair<std::string_view, int64_t> bits[] = {
      {"BOOL", 8},        {"F4", 4},          {"F6_E2M3", 6}, {"F6_E3M2", 6}, {"U8", 8},   {"I8", 8},
      {"F8_E5M2", 8},     {"F8_E4M3", 8},     {"F8_E8M0", 8}, {"I16", 16},    {"U16", 16}, {"F16", 16},
      {"F8_E4M3FNUZ", 8}, {"F8_E5M2FNUZ", 8}, {"BF16", 16},   {"I32", 32},    {"U32", 32}, {"F32", 32},
      {"C64", 64},        {"F64", 64},        {"I64", 64},    {"U64", 64}};
  for (const auto& [dtype, width] : bits) {
    const auto type = block_type_from_safetensors(dtype);
    ASSERT_TRUE(type) << dtype;
    EXPECT_EQ(8 * info(*type).block_bytes, width * info(*type).block_elements) << dtype;
    EXPECT_EQ(can_decode(*type), dtype != "C64" && !dtype.starts_with("F6_")) << dtype;
  }
  EXPECT_EQ(std::size(bits),
            std::ranges::count_if(block_type_table(), [](const auto& row) { return !row.safetensors.empty(); }));
  for (const std::string_view unknown : {"", "F7", "f32", "Q4_0", "F8", "F8_E4M3FN"})
    EXPECT_FALSE(block_type_from_safetensors(unknown)) << unknown;
}

TEST(BlockTypeTable, RetiredAndUnknownIdsHaveNoRow) {
  for (const uint32_t id : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U}) {
    EXPECT_TRUE(is_retired_gguf_id(id));
    EXPECT_FALSE(block_type_from_gguf(id).has_value());
  }
  for (const uint32_t id : {43U, 63U, 64U, 99U, 0xFFFFFFFFU}) {
    EXPECT_FALSE(is_retired_gguf_id(id));
    EXPECT_FALSE(block_type_from_gguf(id).has_value());
  }
}

TEST(Decode, ChecksItsPreconditions) {
  std::vector<std::byte> block(34);
  std::vector<float> out(32);
  EXPECT_NO_THROW(decode_f32(BlockType::kQ8_0, block, out));
  EXPECT_THROW(decode_f32(BlockType::kQ8_0, std::span(block).first(33), out), InternalError);
  EXPECT_THROW(decode_f32(BlockType::kQ8_0, block, std::span(out).first(31)), InternalError);
  EXPECT_NO_THROW(decode_f32(BlockType::kQ8_0, {}, {}));
  std::vector<uint16_t> halves(32);
  for (const auto decode : {decode_bf16, decode_f16}) {
    EXPECT_NO_THROW(decode(BlockType::kQ8_0, block, halves));
    EXPECT_THROW(decode(BlockType::kQ8_0, std::span(block).first(33), halves), InternalError);
    EXPECT_THROW(decode(BlockType::kQ8_0, block, std::span(halves).first(31)), InternalError);
    EXPECT_NO_THROW(decode(BlockType::kF64, {}, {}));
  }
}

}  // namespace
}  // namespace headrace
