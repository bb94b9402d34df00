// What is refused: a table of files that lie. Ids are those of the list of other tools' faults (A..).
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <functional>

#include "base/testing.h"
#include "formats/gguf_testing.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;

constexpr uint64_t kBig = uint64_t{1} << 63;

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
    return Bad{std::move(id), [=] { return with_tensor({.name = "x", .ne = ne, .type = type, .bytes = {}}); },
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
    out.push_back({fmt::format("A02_tensors_{}", count), [=] { return GgufSpec{.n_tensors = count}; },
                   ErrorCode::kGgufTensor, "truncated or corrupt"});
    out.push_back({fmt::format("A02_keys_{}", count), [=] { return GgufSpec{.n_kv = count}; }, ErrorCode::kGgufHeader,
                   "truncated or corrupt"});
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
  out.push_back({"A03_key_length",
                 [] {
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
      {"A12_partial_overlap",
       [] {
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
      {"A10_key_twice",
       [] {
         return with_kvs({kv_u32("k", 1), kv_u32("k", 2)});
       },
       ErrorCode::kGgufMetadata, "key 'k' occurs twice"},
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
    return Bad{std::move(id), [=] { return changed([=](GgufSpec& s) { s.version = number; }); }, ErrorCode::kGgufHeader,
               std::move(message)};
  };
  std::vector<Bad> out = {
      version("A19_big_endian", 0x03000000, "looks big-endian"),
      version("A20_version_0", 0, "GGUF version 0, expected 2 or 3"),
      version("A20_version_1", 1, "GGUF version 1, expected 2 or 3"),
      version("A20_version_4", 4, "GGUF version 4, expected 2 or 3"),
  };
  for (const uint32_t id : {4U, 5U, 31U, 32U, 33U, 36U, 37U, 38U, 43U, 99U, 0xFFFFFFFFU}) {
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

}  // namespace
}  // namespace headrace::testing
