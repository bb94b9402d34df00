// Every entry A.. of the list of other tools' faults that concerns the container has a case here, named by its id.
#include "formats/gguf.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/testing.h"
#include "formats/file.h"
#include "formats/gguf_testing.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kBig = uint64_t{1} << 63;

GgufTensor f32_tensor(std::string name, std::vector<uint64_t> ne, size_t bytes) {
  return {.name = std::move(name), .ne = std::move(ne), .bytes = std::string(bytes, '\1')};
}

GgufSpec with_kvs(std::vector<GgufKv> kvs) {
  return {.kvs = std::move(kvs), .tensors = {f32_tensor("x", {8}, 32)}};
}

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

struct Bad {
  std::string id;
  std::function<GgufSpec()> spec;
  ErrorCode code;
  std::string message;
};

std::ostream& operator<<(std::ostream& os, const Bad& bad) { return os << bad.id; }

class BadGguf : public ::testing::TestWithParam<Bad> {};

// Each must fail at once, with little memory, whatever it claims.
TEST_P(BadGguf, IsRefused) {
  rusage before = {};
  rusage after = {};
  getrusage(RUSAGE_SELF, &before);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(open_spec(GetParam().spec()), IsError(GetParam().code, HasSubstr(GetParam().message)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 50 << 10);  // KiB
}

std::vector<Bad> bad_sizes() {
  const auto sized = [](std::string id, std::vector<uint64_t> ne, uint32_t type, std::string message) {
    return Bad{std::move(id),
               [=] { return with_tensor({.name = "x", .ne = ne, .type = type, .bytes = {}}); },
               ErrorCode::kGgufTensor, std::move(message)};
  };
  return {
      sized("A01_i8_product", {kBig - 1, 2}, 24, "tensor 'x': size of [2, 9223372036854775807] I8 overflows"),
      sized("A01_product_wraps_to_0", {uint64_t{1} << 32, uint64_t{1} << 32}, 0, "overflows"),
      sized("A01_product_wraps_small", {(uint64_t{1} << 42) + 1, uint64_t{1} << 22}, 0, "overflows"),
      sized("A01_bytes_wrap", {(uint64_t{1} << 62) + 1}, 0, "overflows"),
      sized("A01_padded_size_wraps", {UINT64_MAX / 4}, 0, "overflows"),
      sized("A01_fits_64_bits_not_the_file", {uint64_t{1} << 60}, 0, "truncated or corrupt"),
      sized("A01_dim_negative", {UINT64_MAX}, 24, "dim 0 is 18446744073709551615"),
      sized("A04_dim_0", {4, 0}, 0, "dim 1 is 0"),
      sized("A21_row_of_896", {896, 2}, 12, "tensor 'x': 896 elements per row, not a multiple of 256 (Q4_K)"),
  };
}

std::vector<Bad> bad_counts() {
  std::vector<Bad> out;
  for (const uint64_t count : {kBig - 1, uint64_t{1} << 60, uint64_t{1} << 32}) {
    out.push_back({fmt::format("A02_tensors_{}", count),
                   [=] { return GgufSpec{.n_tensors = count}; }, ErrorCode::kGgufTensor, "truncated or corrupt"});
    out.push_back({fmt::format("A02_keys_{}", count), [=] { return GgufSpec{.n_kv = count}; },
                   ErrorCode::kGgufHeader, "truncated or corrupt"});
  }
  for (const uint32_t dims : {0U, 5U, 9U, 0xFFFFFFFFU}) {
    out.push_back({fmt::format("A04_dims_{}", dims),
                   [=] {
                     GgufTensor t = f32_tensor("x", {8}, 32);
                     t.n_dims = dims;
                     return with_tensor(t);
                   },
                   ErrorCode::kGgufTensor, fmt::format("tensor 'x': has {} dims, expected 1 to 4", dims)});
  }
  return out;
}

std::vector<Bad> bad_lengths() {
  const auto array = [](uint32_t type, uint64_t count) { return le32(type) + le64(count); };
  const auto kv = [](std::string id, GgufKv entry, std::string message) {
    return Bad{std::move(id), [=] { return GgufSpec{.kvs = {entry}}; }, ErrorCode::kGgufMetadata, std::move(message)};
  };
  std::vector<Bad> out = {
      kv("A03_string", kv_raw("k", 8, le64(uint64_t{1} << 40)), "key 'k': needs 1099511627776 bytes at offset"),
      kv("A03_f64_array_wraps", kv_raw("k", 9, array(12, uint64_t{1} << 61)), "key 'k': an array of"),
      kv("A03_string_array", kv_raw("k", 9, array(8, uint64_t{1} << 32)), "key 'k': an array of 4294967296 items"),
      kv("A03_string_array_in_limits", kv_raw("k", 9, array(8, uint64_t{1} << 24)), "needs 16777216 items"),
      kv("A13_type_13", kv_raw("k", 13, "xxxx"), "key 'k': value type 13 is unknown"),
      kv("A13_type_255", kv_raw("k", 255, "xxxx"), "key 'k': value type 255 is unknown"),
      kv("A13_item_type_13", kv_raw("k", 9, array(13, 1) + "xxxx"), "key 'k': value type 13 is unknown"),
      kv("A16_bool_2", kv_raw("k", 7, "\2"), "key 'k': a bool holds the byte 2"),
      kv("A16_bool_2_in_array", kv_raw("k", 9, array(7, 2) + std::string("\1\2")), "a bool holds the byte 2"),
      kv("A13_empty_key", kv_u32("", 1), "metadata key 1 of 1: its name has 0 bytes"),
      kv("A13_key_not_ascii", kv_u32("a\nb", 1), "its name \"a\\nb\" is not printable ASCII"),
      kv("A13_key_too_long", kv_u32(std::string(65536, 'k'), 1), "its name has 65536 bytes"),
  };
  for (const int depth : {3, 3000}) {
    std::string nested = array(5, 1) + le32(7);
    for (int i = 1; i < depth; ++i) nested = array(9, 1) + nested;
    out.push_back(kv(fmt::format("A13_nested_{}", depth), kv_raw("k", 9, nested),
                     "key 'k': an array of arrays is not supported"));
  }
  out.push_back({"A03_key_length", [] {
                   GgufSpec spec{.n_kv = 1};
                   spec.magic = "GGUF";
                   spec.tail = le64(kBig) + "0123456789";
                   spec.align = 8;
                   return spec;
                 },
                 ErrorCode::kGgufMetadata, "its name has 9223372036854775808 bytes"});
  return out;
}

std::vector<Bad> bad_alignments() {
  const auto kv = [](std::string id, GgufKv entry, std::string message) {
    return Bad{std::move(id), [=] { return with_kvs({entry}); }, ErrorCode::kGgufHeader, std::move(message)};
  };
  const std::string key = "general.alignment";
  return {
      kv("A06_0", kv_u32(key, 0), "key 'general.alignment': 0, expected a non-zero multiple of 8"),
      kv("A06_1", kv_u32(key, 1), "key 'general.alignment': 1, expected"),
      kv("A06_7", kv_u32(key, 7), "key 'general.alignment': 7, expected"),
      kv("A06_negative", kv_i32(key, -32), "key 'general.alignment': -32, expected"),
      kv("A06_string", kv_string(key, "32"), "key 'general.alignment': not an integer"),
      kv("A06_u64_too_big", kv_u64(key, uint64_t{1} << 32), "below 2^32"),
      {"A06_beyond_the_file", [key] { return with_kvs({kv_u32(key, uint32_t{1} << 31)}); }, ErrorCode::kGgufTensor,
       "tensor 'x': its data ends at byte 2147483680"},
  };
}

std::vector<Bad> bad_offsets() {
  const auto at = [](std::string id, std::vector<uint64_t> offsets, std::string message) {
    return Bad{std::move(id),
               [=] {
                 GgufSpec spec = {.tensors = {f32_tensor("a", {8}, 32), f32_tensor("b", {8}, 32)}};
                 spec.offsets = offsets;
                 return spec;
               },
               ErrorCode::kGgufTensor, std::move(message)};
  };
  return {
      at("A09_offset_wraps", {0, UINT64_MAX - 31}, "tensor 'b': offset 18446744073709551584 plus 32 bytes overflows"),
      at("A09_offset_2_63", {0, kBig}, "tensor 'b': its data ends at byte"),
      at("A12_same_range", {0, 0}, "tensors 'a' and 'b' overlap"),
      at("A12_offset_8", {0, 8}, "tensor 'b': offset 8 is not a multiple of the alignment 32"),
      {"A12_partial_overlap", [] {
         GgufSpec spec = {.tensors = {f32_tensor("a", {16}, 64), f32_tensor("b", {8}, 32)}};
         spec.offsets = {0, 32};
         return spec;
       },
       ErrorCode::kGgufTensor, "tensors 'a' and 'b' overlap"},
  };
}

std::vector<Bad> bad_names() {
  const auto twice = [](GgufSpec& spec) {
    spec.tensors.push_back(spec.tensor("blk.0.attn_q.weight"));
    spec.tensors.back().bytes[0] ^= 1;
  };
  const auto named = [](std::string id, std::string name, std::string message) {
    return Bad{std::move(id), [=] { return with_tensor(f32_tensor(name, {8}, 32)); }, ErrorCode::kGgufTensor,
               std::move(message)};
  };
  return {
      {"A10_tensor_twice", [=] { return changed(twice); }, ErrorCode::kGgufTensor,
       "tensor 'blk.0.attn_q.weight' occurs twice"},
      {"A10_key_twice", [] { return with_kvs({kv_u32("k", 1), kv_u32("k", 2)}); }, ErrorCode::kGgufMetadata,
       "key 'k' occurs twice"},
      named("A11_65_bytes", std::string(65, 'n'), "tensor 1 of 1: its name has 65 bytes, expected 1 to 64"),
      named("A11_70_bytes", std::string(70, 'n'), "its name has 70 bytes"),
      named("A11_empty", "", "its name has 0 bytes"),
      named("A11_newline", "a\nb", "its name \"a\\nb\" is not UTF-8 without control characters"),
      named("A11_not_utf8", "a\xFFz", "is not UTF-8"),
      named("A11_nul", std::string("a\0b", 3), "is not UTF-8 without control characters"),
  };
}

std::vector<Bad> bad_headers() {
  const auto version = [](std::string id, uint32_t number, std::string message) {
    return Bad{std::move(id), [=] { return changed([=](GgufSpec& s) { s.version = number; }); },
               ErrorCode::kGgufHeader, std::move(message)};
  };
  std::vector<Bad> out = {
      version("A19_big_endian", 0x03000000, "looks big-endian"),
      version("A20_version_0", 0, "GGUF version 0, expected 2 or 3"),
      version("A20_version_1", 1, "GGUF version 1, expected 2 or 3"),
      version("A20_version_4", 4, "GGUF version 4, expected 2 or 3"),
  };
  for (const uint32_t id : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U, 42U, 99U, 0xFFFFFFFFU}) {
    out.push_back({fmt::format("A22_type_{}", id),
                   [=] { return changed([=](GgufSpec& s) { s.tensor("blk.1.attn_k.weight").type = id; }); },
                   ErrorCode::kBlockType,
                   fmt::format("tensor 'blk.1.attn_k.weight': type id {} {}", id,
                               is_retired_gguf_id(id) ? "was retired" : "is unknown")});
  }
  return out;
}

std::string case_name(const ::testing::TestParamInfo<Bad>& info) { return info.param.id; }

INSTANTIATE_TEST_SUITE_P(Sizes, BadGguf, ::testing::ValuesIn(bad_sizes()), case_name);
INSTANTIATE_TEST_SUITE_P(Counts, BadGguf, ::testing::ValuesIn(bad_counts()), case_name);
INSTANTIATE_TEST_SUITE_P(Lengths, BadGguf, ::testing::ValuesIn(bad_lengths()), case_name);
INSTANTIATE_TEST_SUITE_P(Alignments, BadGguf, ::testing::ValuesIn(bad_alignments()), case_name);
INSTANTIATE_TEST_SUITE_P(Offsets, BadGguf, ::testing::ValuesIn(bad_offsets()), case_name);
INSTANTIATE_TEST_SUITE_P(Names, BadGguf, ::testing::ValuesIn(bad_names()), case_name);
INSTANTIATE_TEST_SUITE_P(Headers, BadGguf, ::testing::ValuesIn(bad_headers()), case_name);

TEST(Gguf, AlignmentIsHonouredForEveryHeaderLength_A07) {
  for (const uint32_t align : {8U, 16U, 24U, 64U, 4096U}) {
    for (size_t length = 0; length < 32; ++length) {
      GgufSpec spec = {.kvs = {kv_u32("general.alignment", align),
                               kv_string("general.name", std::string(length, 'n'))},
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
  for (const std::string& name : {std::string(63, 'n'), std::string(64, 'n'), std::string("a\"b"),
                                  std::string("a\\b"), std::string("a b"), std::string("gewicht.\xC3\xA4")}) {
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
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint,
                       open_spec(with_kvs({kv_array("x.list", Gv::kI32, {}), kv_strings("x.names", {}),
                                           kv_string("x.text", "")})));
  EXPECT_EQ(checkpoint.metadata.size(), 3U);
}

TEST(Gguf, Version2IsRead_A20) { EXPECT_OK(open_spec(changed([](GgufSpec& s) { s.version = 2; }))); }

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
    const auto elements = static_cast<uint64_t>(row.block_elements);
    const auto bytes = static_cast<size_t>(row.block_bytes);
    ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint,
                         open_spec(with_tensor({.name = "x",
                                                .ne = {elements * 2, 3},
                                                .type = row.gguf_id,
                                                .bytes = std::string(bytes * 6, 'x')})));
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
  GgufSpec spec = {.tensors = {{.name = "big", .ne = {kHuge}, .type = 24, .bytes = {}},
                               {.name = "after", .ne = {1}, .bytes = {}}}};
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
