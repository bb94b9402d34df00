#include "formats/gguf_writer.h"

#include <limits>

#include "base/testing.h"
#include "formats/gguf_testing.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;

const std::map<std::string, MetaValue, std::less<>>& metadata() {
  static const std::map<std::string, MetaValue, std::less<>> kMetadata{
      {"a.bool", {true}},
      {"a.float", {0.5}},
      {"a.float64", {0.1}},
      {"a.floats", {MetaArray{std::vector<double>{1, -2.5}}}},
      {"a.int", {int64_t{-3}}},
      {"a.ints", {MetaArray{std::vector<int64_t>{-1, std::numeric_limits<int64_t>::min()}}}},
      {"a.nan", {std::numeric_limits<double>::infinity()}},
      {"a.string", {std::string("with \xFF and \0", 12)}},
      {"a.strings", {MetaArray{std::vector<std::string>{"", "x"}}}},
      {"a.uint", {uint64_t{7}}},
      {"a.uint64", {std::numeric_limits<uint64_t>::max()}},
      {"a.flags", {MetaArray{std::vector<bool>{true, false}}}},
      {"general.architecture", {std::string("llama")}},
  };
  return kMetadata;
}

std::string file_of(const GgufLayout& layout) {
  std::string bytes = layout.header_bytes;
  bytes.resize(layout.total_bytes);
  return bytes;
}

TEST(GgufWriter, TheReaderReadsBackWhatWasWritten) {
  const std::vector<OutGgufTensor> tensors{{"t.a", BlockType::kF32, {3, 5}},
                                           {"t.b", BlockType::kQ4_1, {2, 3, 64}},
                                           {"t.c", BlockType::kQ6_K, {256}},
                                           {"t.d", BlockType::kF16, {1}}};
  ASSERT_OK_AND_ASSIGN(const GgufLayout layout, layout_gguf(metadata(), tensors));
  ASSERT_OK_AND_ASSIGN(const Checkpoint read, testing::open_bytes(file_of(layout)));
  EXPECT_EQ(read.metadata, metadata());
  ASSERT_EQ(read.tensors.size(), tensors.size());
  for (size_t i = 0; i < tensors.size(); ++i) {
    EXPECT_EQ(read.tensors[i].name, tensors[i].name);
    EXPECT_EQ(read.tensors[i].type, tensors[i].type);
    EXPECT_EQ(read.tensors[i].shape, tensors[i].shape);
    EXPECT_EQ(read.tensors[i].offset_bytes, layout.offsets_bytes[i]);
    EXPECT_EQ(read.tensors[i].length_bytes, layout.lengths_bytes[i]);
    EXPECT_EQ(layout.offsets_bytes[i] % 32, 0U);
  }
}

TEST(GgufWriter, RefusesWhatNoReaderTakes) {
  const auto refused = [](std::vector<OutGgufTensor> tensors) { return layout_gguf({}, tensors); };
  EXPECT_THAT(refused({{"t", BlockType::kQ4_K, {2, 255}}}),
              IsError(ErrorCode::kGgufTensor, HasSubstr("no whole blocks of Q4_K")));
  EXPECT_THAT(refused({{"t", BlockType::kF32, {}}}), IsError(ErrorCode::kGgufTensor, HasSubstr("shape []")));
  EXPECT_THAT(refused({{"t", BlockType::kF32, {2, 0}}}), IsError(ErrorCode::kGgufTensor, HasSubstr("shape [2, 0]")));
  EXPECT_THAT(refused({{"t", BlockType::kF32, {1}}, {"t", BlockType::kF32, {1}}}),
              IsError(ErrorCode::kGgufTensor, HasSubstr("two tensors")));
  const int64_t huge = int64_t{1} << 31;
  EXPECT_THAT(refused({{"t", BlockType::kF32, {huge, huge}}}), IsError(ErrorCode::kGgufTensor, HasSubstr("overflows")));
  const int64_t large = (int64_t{1} << 61) - 8;
  EXPECT_THAT(
      refused({{"a", BlockType::kF32, {large}}, {"b", BlockType::kF32, {large}}, {"c", BlockType::kF32, {large}}}),
      IsError(ErrorCode::kGgufTensor, HasSubstr("overflows")));
  EXPECT_THAT(layout_gguf({{"k", {}}}, {}), IsError(ErrorCode::kGgufMetadata, HasSubstr("'k' has no value")));
}

}  // namespace
}  // namespace headrace
