// What is accepted. Names end in the id of the entry in the list of other tools' faults; gguf_bad_test.cpp has the
// rest.
#include "formats/gguf.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "base/testing.h"
#include "formats/file.h"
#include "formats/gguf_testing.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;

GgufTensor f32_tensor(std::string name, std::vector<uint64_t> ne, size_t bytes) {
  return {.name = std::move(name), .ne = std::move(ne), .bytes = std::string(bytes, '\1')};
}

GgufSpec with_kvs(std::vector<GgufKv> kvs) { return {.kvs = std::move(kvs), .tensors = {f32_tensor("x", {8}, 32)}}; }

GgufSpec with_tensor(GgufTensor tensor) {
  GgufSpec spec;
  spec.tensors.push_back(std::move(tensor));
  return spec;
}

GgufSpec changed(const std::function<void(GgufSpec&)>& change) {
  GgufSpec spec = tiny();
  change(spec);
  return spec;
}

std::string data_of(const Checkpoint& checkpoint, std::string_view file_bytes, const std::string& name) {
  const TensorEntry* tensor = checkpoint.find(name);
  return tensor == nullptr ? "" : std::string(file_bytes.substr(tensor->offset_bytes, tensor->length_bytes));
}

TEST(Gguf, TinyModelIndexesEveryTensor) {
  const GgufSpec spec = tiny();
  const std::string bytes = build_gguf(spec);
  EXPECT_EQ(bytes.size(), 88416U);  // as the Python kit writes it
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_bytes(bytes));
  EXPECT_EQ(checkpoint.kind, ContainerKind::kGguf);
  ASSERT_EQ(checkpoint.tensors.size(), spec.tensors.size());
  for (const GgufTensor& t : spec.tensors) EXPECT_EQ(data_of(checkpoint, bytes, t.name), t.bytes) << t.name;
  const TensorEntry* down = checkpoint.find("blk.1.ffn_down.weight");
  ASSERT_NE(down, nullptr);
  EXPECT_EQ(down->shape, (std::vector<int64_t>{32, 64}));  // ne = [64, 32]
  EXPECT_EQ(down->type, BlockType::kF32);
  EXPECT_EQ(checkpoint.files[0].size_bytes, bytes.size());
  EXPECT_EQ(checkpoint.header_xxh3.size(), 32U);
  EXPECT_EQ(checkpoint.find("nosuch"), nullptr);
}

TEST(Gguf, HeaderHashCoversHeaderAndNotData) {
  GgufSpec spec = tiny();
  ASSERT_OK_AND_ASSIGN(const Checkpoint one, open_spec(spec));
  spec.tensors[0].bytes[5] ^= 1;
  ASSERT_OK_AND_ASSIGN(const Checkpoint data_differs, open_spec(spec));
  EXPECT_EQ(one.header_xxh3, data_differs.header_xxh3);
  spec.set(kv_u32("llama.context_length", 65));
  ASSERT_OK_AND_ASSIGN(const Checkpoint header_differs, open_spec(spec));
  EXPECT_NE(one.header_xxh3, header_differs.header_xxh3);
}

// Written by gguf-py: testdata/formats/make_reference.py.
TEST(Gguf, ReadsWhatGgufPyWrites) {
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const Checkpoint c,
                       open_checkpoint(std::string(HEADRACE_TESTDATA) + "/formats/reference.gguf", warnings));
  std::string seen;
  for (const auto& [key, value] : c.metadata)
    seen += fmt::format("{} = {}\n", key, value == MetaValue{} ? "" : std::to_string(value.value.index()));
  for (const TensorEntry& t : c.tensors)
    seen += fmt::format("{} {} [{}] {} {}\n", t.name, name(t.type), fmt::join(t.shape, ","), t.offset_bytes,
                        t.length_bytes);
  std::ifstream golden(std::string(HEADRACE_TESTDATA) + "/formats/reference.txt");
  EXPECT_EQ(seen, std::string((std::istreambuf_iterator<char>(golden)), {}));
}

TEST(Gguf, AlignmentIsHonouredForEveryHeaderLength_A07) {
  for (const uint32_t align : {8U, 16U, 24U, 64U, 4096U}) {
    for (size_t length = 0; length < 32; ++length) {
      GgufSpec spec = {.kvs = {kv_u32("general.alignment", align), kv_string("general.name", std::string(length, 'n'))},
                       .align = align};
      for (const char c : {'a', 'b', 'c'})
        spec.tensors.push_back({.name = std::string(1, c) + ".weight", .ne = {4}, .bytes = std::string(16, c)});
      const std::string bytes = build_gguf(spec);
      ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_bytes(bytes));
      for (const GgufTensor& t : spec.tensors) ASSERT_EQ(data_of(checkpoint, bytes, t.name), t.bytes) << align;
    }
  }
}

TEST(Gguf, AlignmentOfAnotherIntegerTypeIsRead_A06) {
  for (const GgufKv& kv : {kv_u64("general.alignment", 64), kv_i32("general.alignment", 64)}) {
    GgufSpec spec = with_kvs({kv});
    spec.align = 64;
    const std::string bytes = build_gguf(spec);
    ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_bytes(bytes));
    EXPECT_EQ(checkpoint.tensors[0].offset_bytes % 64, 0U);
  }
}

TEST(Gguf, EveryTruncationIsAnError_A09) {
  const GgufSpec spec = tiny();
  const std::string bytes = build_gguf(spec);
  const TempDir dir;
  const std::string path = dir.write("t.gguf", bytes);
  const auto open_cut = [&](size_t size) {  // sizes must fall: the file is cut in place
    std::filesystem::resize_file(path, size);
    Warnings warnings;
    return open_checkpoint(path, warnings);
  };
  EXPECT_OK(open_cut(bytes.size()));
  const size_t header = gguf_header_size(spec);
  for (const size_t size : {bytes.size() - 1, bytes.size() - 32, bytes.size() / 2, header})
    EXPECT_THAT(open_cut(size), IsError(ErrorCode::kGgufTensor, HasSubstr(fmt::format("the file has {}", size))));
  for (size_t size = header - 1; size >= 4; --size) {
    const auto result = open_cut(size);
    ASSERT_FALSE(result.has_value()) << size;
    ASSERT_THAT(result, IsError(result.error().code, HasSubstr(fmt::format("the file has {} bytes: truncated", size))));
    ASSERT_THAT(slug(result.error().code), ::testing::StartsWith("gguf-"));
  }
}

TEST(Gguf, LastTensorMayLackItsPadding_A09) {
  const std::string bytes = build_gguf(with_tensor(f32_tensor("x", {3}, 12)));
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_bytes(std::string_view(bytes).substr(0, bytes.size() - 20)));
  EXPECT_EQ(checkpoint.tensors[0].length_bytes, 12U);
  EXPECT_THAT(open_bytes(std::string_view(bytes).substr(0, bytes.size() - 21)),
              IsError(ErrorCode::kGgufTensor, HasSubstr("tensor 'x': its data ends at byte")));
}

TEST(Gguf, NamesUpTo64BytesOfAnyPrintableText_A11) {
  for (const std::string& name : {std::string(63, 'n'), std::string(64, 'n'), std::string("a\"b"), std::string("a\\b"),
                                  std::string("a b"), std::string("gewicht.\xC3\xA4")}) {
    ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_spec(with_tensor(f32_tensor(name, {8}, 32))));
    EXPECT_NE(checkpoint.find(name), nullptr) << name;
  }
}

TEST(Gguf, GapsAndAnyOrderGiveTheRightBytes_A12) {
  GgufSpec spec = {.tensors = {{.name = "a", .ne = {8}, .bytes = std::string(32, 'a')},
                               {.name = "b", .ne = {8}, .bytes = std::string(32, 'b')}}};
  spec.offsets = {32, 0};  // the builder still writes a's bytes first
  const std::string swapped = build_gguf(spec);
  ASSERT_OK_AND_ASSIGN(const Checkpoint crossed, open_bytes(swapped));
  EXPECT_EQ(data_of(crossed, swapped, "a"), std::string(32, 'b'));
  EXPECT_EQ(data_of(crossed, swapped, "b"), std::string(32, 'a'));
  spec.offsets = {0, 96};
  spec.tail = std::string(64, 't');
  const std::string gap = build_gguf(spec);
  ASSERT_OK_AND_ASSIGN(const Checkpoint apart, open_bytes(gap));
  EXPECT_EQ(data_of(apart, gap, "b"), std::string(32, 't'));
}

TEST(Gguf, EmptyArraysAndStringsAreReal_A14) {
  ASSERT_OK_AND_ASSIGN(
      const Checkpoint checkpoint,
      open_spec(with_kvs({kv_array("x.list", Gv::kI32, {}), kv_strings("x.names", {}), kv_string("x.text", "")})));
  EXPECT_EQ(checkpoint.metadata.size(), 3U);
}

TEST(Gguf, Version2IsRead_A20) {
  EXPECT_OK(open_spec(changed([](GgufSpec& s) { s.version = 2; })));
}

TEST(Gguf, TypesAreByTensorNotByFile_A21) {
  GgufSpec spec = with_kvs({kv_u32("general.file_type", 15)});
  spec.tensors = {{.name = "attn", .ne = {896, 2}, .type = 6, .bytes = std::string(2 * 28 * 22, 'a')},
                  {.name = "out", .ne = {896}, .type = 8, .bytes = std::string(28 * 34, 'o')},
                  {.name = "down", .ne = {4864}, .type = 12, .bytes = std::string(19 * 144, 'd')}};
  const std::string bytes = build_gguf(spec);
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_bytes(bytes));
  for (const GgufTensor& t : spec.tensors) EXPECT_EQ(data_of(checkpoint, bytes, t.name), t.bytes) << t.name;
  EXPECT_EQ(checkpoint.find("attn")->type, BlockType::kQ5_0);
}

// Files of types that this version cannot decode are indexed all the same; an export refuses them by name.
TEST(Gguf, EveryKnownTypeIsIndexed_A22) {
  for (const BlockTypeInfo& row : block_type_table()) {
    if (row.gguf_id == kNoGgufId) continue;
    const auto elements = static_cast<uint64_t>(row.block_elements);
    const auto bytes = static_cast<size_t>(row.block_bytes);
    ASSERT_OK_AND_ASSIGN(
        const Checkpoint checkpoint,
        open_spec(with_tensor(
            {.name = "x", .ne = {elements * 2, 3}, .type = row.gguf_id, .bytes = std::string(bytes * 6, 'x')})));
    EXPECT_EQ(name(checkpoint.tensors[0].type), row.name);
    EXPECT_EQ(checkpoint.tensors[0].length_bytes, bytes * 6) << row.name;
  }
}

// What a model makes of foreign tensors is the model's business; the container holds them (A23).
TEST(Gguf, ForeignTensorsAreIndexed_A23) {
  const GgufSpec spec = changed([](GgufSpec& s) {
    s.tensors.push_back(f32_tensor("v.blk.0.attn_q.weight", {8}, 32));
    s.tensors.push_back(f32_tensor("mm.0.weight", {8}, 32));
  });
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_spec(spec));
  EXPECT_NE(checkpoint.find("mm.0.weight"), nullptr);
}

// C09 for GGUF: offsets beyond 4 GiB, in a sparse file.
TEST(Gguf, OffsetsBeyond4GiB_C09) {
  constexpr uint64_t kHuge = (uint64_t{1} << 32) + 32;
  GgufSpec spec = {
      .tensors = {{.name = "big", .ne = {kHuge}, .type = 24, .bytes = {}}, {.name = "after", .ne = {1}, .bytes = {}}}};
  spec.offsets = {0, kHuge};
  std::string head = build_gguf(spec);
  const TempDir dir;
  const std::string path = dir.write("t.gguf", head);
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(head.size() + kHuge));
    const std::string value = f32_bytes({2.5F});
    file.write(value.data(), 4);
  }
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_checkpoint(path, warnings));
  const TensorEntry* after = checkpoint.find("after");
  ASSERT_OK_AND_ASSIGN(const InputFile file, InputFile::open(path));
  float value = 0;
  ASSERT_OK(file.read_at(after->offset_bytes, std::as_writable_bytes(std::span(&value, 1))));
  EXPECT_EQ(value, 2.5F);
}

}  // namespace
}  // namespace headrace::testing
