#include "quant/block_type.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "base/result.h"

namespace headrace {
namespace {

TEST(BlockTypeTable, EveryRowIsConsistent) {
  std::set<std::string_view> names;
  std::set<uint32_t> ids;
  for (size_t i = 0; i < block_type_table().size(); ++i) {
    const BlockTypeInfo& row = block_type_table()[i];
    SCOPED_TRACE(std::string(row.name));
    EXPECT_TRUE(names.insert(row.name).second) << "name repeated";
    EXPECT_TRUE(ids.insert(row.gguf_id).second) << "id repeated";
    EXPECT_GT(row.block_elements, 0);
    EXPECT_GT(row.block_bytes, 0);
    EXPECT_EQ(&info(static_cast<BlockType>(i)), &row);
    EXPECT_EQ(block_type_from_gguf(row.gguf_id), static_cast<BlockType>(i));
    EXPECT_FALSE(is_retired_gguf_id(row.gguf_id));
    if (row.plain) {
      EXPECT_EQ(row.block_elements, 1);
      EXPECT_EQ(row.block_bytes, storage_bytes(*row.plain));
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
  EXPECT_EQ(found, block_type_table().size());
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
