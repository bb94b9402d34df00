// Entries B01 to B04 of the list of other tools' faults.
#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing.h"
#include "formats/file.h"
#include "formats/gguf.h"
#include "formats/gguf_testing.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;

// The keys of a part, as gguf-split writes them.
std::vector<GgufKv> split_kvs(uint16_t number, uint16_t count, int32_t tensors) {
  const auto u16 = [](uint16_t v) { return std::string{static_cast<char>(v & 0xFF), static_cast<char>(v >> 8)}; };
  return {kv_raw("split.no", static_cast<uint32_t>(Gv::kU16), u16(number)),
          kv_raw("split.count", static_cast<uint32_t>(Gv::kU16), u16(count)), kv_i32("split.tensors.count", tensors)};
}

// `model` cut into parts that hold the given numbers of tensors.
std::vector<GgufSpec> cut(const GgufSpec& model, const std::vector<size_t>& sizes) {
  std::vector<GgufSpec> parts(sizes.size());
  size_t next = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (i == 0) parts[i].kvs = model.kvs;
    for (GgufKv& kv : split_kvs(static_cast<uint16_t>(i), static_cast<uint16_t>(sizes.size()),
                                static_cast<int32_t>(model.tensors.size())))
      parts[i].kvs.push_back(std::move(kv));
    for (size_t j = 0; j < sizes[i]; ++j) parts[i].tensors.push_back(model.tensors.at(next++));
  }
  return parts;
}

class Split : public ::testing::Test {
 protected:
  [[nodiscard]] static std::string part_name(size_t number, size_t count) {
    return fmt::format("m-{:05}-of-{:05}.gguf", number, count);
  }
  // Writes the parts and opens the one asked for (from 1).
  Result<Checkpoint> open(const std::vector<GgufSpec>& parts, size_t given = 1) {
    for (size_t i = 0; i < parts.size(); ++i) (void)dir_.write(part_name(i + 1, parts.size()), build_gguf(parts[i]));
    return reopen(part_name(given, parts.size()));
  }
  Result<Checkpoint> reopen(const std::string& name) { return open_checkpoint(dir_.path() + "/" + name, warnings_); }

  TempDir dir_;
  Warnings warnings_;
  GgufSpec model_ = tiny();  // 21 tensors
};

std::string bytes_of(const Checkpoint& checkpoint, const TensorEntry& tensor) {
  const auto file = InputFile::open(checkpoint.files.at(tensor.file).path);
  std::string out(tensor.length_bytes, '\0');
  EXPECT_OK(file->read_at(tensor.offset_bytes, std::as_writable_bytes(std::span(out))));
  return out;
}

TEST_F(Split, PartsEqualTheWhole_B01) {
  ASSERT_OK_AND_ASSIGN(const Checkpoint whole, open_spec(model_));
  for (const std::vector<size_t>& sizes : {std::vector<size_t>{0, 7, 7, 7}, {20, 1}, {1, 0, 20}}) {
    ASSERT_OK_AND_ASSIGN(const Checkpoint parts, open(cut(model_, sizes)));
    EXPECT_EQ(parts.metadata, whole.metadata);
    EXPECT_EQ(parts.files.size(), sizes.size());
    ASSERT_EQ(parts.tensors.size(), model_.tensors.size());
    for (size_t i = 0; i < model_.tensors.size(); ++i) {
      EXPECT_EQ(parts.tensors[i].name, model_.tensors[i].name);
      EXPECT_EQ(parts.tensors[i].shape, whole.tensors[i].shape);
      EXPECT_EQ(bytes_of(parts, parts.tensors[i]), model_.tensors[i].bytes);
    }
  }
}

TEST_F(Split, AnyPartMayBeGiven_B03) {
  ASSERT_OK_AND_ASSIGN(const Checkpoint by_first, open(cut(model_, {5, 8, 8}), 1));
  for (const size_t given : {2U, 3U}) {
    ASSERT_OK_AND_ASSIGN(const Checkpoint other, open(cut(model_, {5, 8, 8}), given));
    EXPECT_EQ(other.header_xxh3, by_first.header_xxh3);
    EXPECT_EQ(other.metadata, by_first.metadata);
    EXPECT_EQ(other.tensors.size(), 21U);
  }
}

TEST_F(Split, CountsDisagree_B02) {
  auto parts = cut(model_, {10, 11});
  parts[1].set(split_kvs(1, 5, 21)[1]);
  EXPECT_THAT(open(parts), IsError(ErrorCode::kGgufSplit, HasSubstr("split.count is 5, part 1 says 2")));
  EXPECT_THAT(open(parts, 2), IsError(ErrorCode::kGgufSplit, HasSubstr("split.count is 5, the name says part 2 of 2")));
}

TEST_F(Split, TwoPartsClaimOneNumber_B02) {
  auto parts = cut(model_, {7, 7, 7});
  parts[2].set(split_kvs(1, 3, 21)[0]);
  EXPECT_THAT(open(parts), IsError(ErrorCode::kGgufSplit, HasSubstr("split.no is 1, the name asks for 2")));
}

TEST_F(Split, RenamedPart_B02) {
  auto parts = cut(model_, {7, 7, 7});
  std::swap(parts[1], parts[2]);
  EXPECT_THAT(open(parts),
              IsError(ErrorCode::kGgufSplit, HasSubstr("m-00002-of-00003.gguf: split.no is 2, the name asks for 1")));
}

TEST_F(Split, OneTensorLost_B02) {
  auto parts = cut(model_, {10, 11});
  parts[1].tensors.pop_back();
  EXPECT_THAT(open(parts), IsError(ErrorCode::kGgufSplit, HasSubstr("split.tensors.count is 21, the parts hold 20")));
  parts[1].set(kv_i32("split.tensors.count", 20));
  EXPECT_THAT(open(parts), IsError(ErrorCode::kGgufSplit, HasSubstr("split.tensors.count is 20, part 1 says 21")));
}

TEST_F(Split, PartOfAnotherModel_B02) {
  auto parts = cut(model_, {10, 11});
  parts[1].set(kv_string("general.architecture", "gemma3"));
  EXPECT_THAT(open(parts),
              IsError(ErrorCode::kGgufSplit,
                      HasSubstr("key 'general.architecture' is \"gemma3\", an earlier part says \"llama\"")));
}

TEST_F(Split, SameTensorInTwoParts_A10) {
  auto parts = cut(model_, {10, 11});
  parts[1].tensors[0].name = parts[0].tensors[3].name;
  EXPECT_THAT(open(parts),
              IsError(ErrorCode::kGgufSplit, HasSubstr("tensor 'blk.0.attn_k.weight' is in an earlier part, too")));
}

TEST_F(Split, KeysMissingInOnePart_B02) {
  auto parts = cut(model_, {10, 11});
  parts[1].drop("split.count");
  EXPECT_THAT(open(parts), IsError(ErrorCode::kGgufSplit, HasSubstr("split.count is absent, part 1 says 2")));
  parts = cut(model_, {10, 11});
  parts[1].drop("split.no");
  EXPECT_THAT(open(parts), IsError(ErrorCode::kGgufSplit, HasSubstr("split.no is absent, the name asks for 1")));
  parts = cut(model_, {10, 11});
  parts[0].drop("split.tensors.count");
  EXPECT_THAT(open(parts), IsError(ErrorCode::kGgufSplit, HasSubstr("split.tensors.count is absent")));
}

TEST_F(Split, PartIsMissing_B04) {
  ASSERT_OK(open(cut(model_, {7, 7, 7})));
  std::filesystem::remove(dir_.path() + "/m-00002-of-00003.gguf");
  for (const char* given : {"m-00001-of-00003.gguf", "m-00003-of-00003.gguf"})
    EXPECT_THAT(reopen(given), IsError(ErrorCode::kGgufSplit,
                                       HasSubstr("part 2 of 3 is missing: " + dir_.path() + "/m-00002-of-00003.gguf")));
}

TEST_F(Split, BrokenPartIsNamed_B04) {
  auto parts = cut(model_, {10, 11});
  parts[1].tensors[0].type = 99;
  EXPECT_THAT(open(parts), IsError(ErrorCode::kBlockType, HasSubstr("m-00002-of-00002.gguf: tensor")));
}

TEST_F(Split, JoinedWithCat_B04) {
  const auto parts = cut(model_, {10, 11});
  (void)dir_.write("joined.gguf", build_gguf(parts[0]) + build_gguf(parts[1]));
  EXPECT_THAT(reopen("joined.gguf"),
              IsError(ErrorCode::kGgufSplit, HasSubstr("split.count is 2, but the name does not end in "
                                                       "-00001-of-00002.gguf: one part of several, or parts joined")));
}

TEST_F(Split, ImpossibleNumbers_B02) {
  auto spec = model_;
  spec.set(kv_i32("split.count", -2));
  EXPECT_THAT(open_spec(spec), IsError(ErrorCode::kGgufSplit, HasSubstr("key 'split.count' is -2")));
  spec.set(kv_string("split.count", "2"));
  EXPECT_THAT(open_spec(spec), IsError(ErrorCode::kGgufSplit, HasSubstr("key 'split.count' is \"2\"")));
  spec.set(kv_u32("split.count", 1));
  spec.set(kv_u32("split.no", 3));
  EXPECT_THAT(open_spec(spec), IsError(ErrorCode::kGgufSplit, HasSubstr("split.no is 3, split.count is 1")));
  spec.set(kv_u64("split.count", uint64_t{1} << 40));
  EXPECT_THAT(open_spec(spec), IsError(ErrorCode::kGgufSplit, HasSubstr("split.count is 1099511627776")));
}

TEST_F(Split, OnePartOfOneIsWhole) {
  auto spec = model_;
  for (GgufKv& kv : split_kvs(0, 1, 21)) spec.set(std::move(kv));
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_spec(spec));
  EXPECT_EQ(checkpoint.metadata.count("split.count"), 0U);
  spec.set(kv_i32("split.tensors.count", 22));
  EXPECT_THAT(open_spec(spec), IsError(ErrorCode::kGgufSplit, HasSubstr("split.tensors.count is 22")));
}

TEST_F(Split, PartNameWithoutSplitKeysIsReadAloneWithAWarning) {
  (void)dir_.write("m-00001-of-00002.gguf", build_gguf(model_));
  ASSERT_OK(reopen("m-00001-of-00002.gguf"));
  ASSERT_EQ(warnings_.lines.size(), 1U);
  EXPECT_THAT(warnings_.lines[0], HasSubstr("named like part 1 of 2"));
}

}  // namespace
}  // namespace headrace::testing
