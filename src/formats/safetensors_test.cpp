#include "formats/safetensors.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <chrono>
#include <fstream>

#include "base/testing.h"
#include "formats/safetensors_testing.h"

namespace headrace::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kF32 = R"("F32")";

std::string eight(char c = 'x') { return std::string(8, c); }

// Ids are those of the list of other tools' faults.
struct Bad {
  std::string id;
  std::string bytes;
  std::string message;
  ErrorCode code = ErrorCode::kSafetensors;
};

std::ostream& operator<<(std::ostream& os, const Bad& bad) { return os << bad.id; }

class BadSafetensors : public ::testing::TestWithParam<Bad> {};

// Each must fail at once, with little memory, whatever it claims.
TEST_P(BadSafetensors, IsRefused) {
  rusage before = {};
  rusage after = {};
  getrusage(RUSAGE_SELF, &before);
  const auto start = std::chrono::steady_clock::now();
  const auto result = read_safetensors_bytes(GetParam().bytes);
  EXPECT_THAT(result, IsError(GetParam().code, HasSubstr("/t.safetensors: " + GetParam().message)));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 20 << 10);  // KiB
}

std::vector<Bad> bad_lengths() {
  const std::string file = build_safetensors({{.name = "a", .shape = {2}, .bytes = eight()}});
  const auto claims = [&](std::string id, uint64_t length, std::string message) {
    return Bad{std::move(id), le64(length) + file.substr(8), std::move(message)};
  };
  return {
      claims("C01_length_2_63", uint64_t{1} << 63,
             "the header's length is 9223372036854775808, expected at most 100000000"),
      claims("C01_length_100000001", 100'000'001, "the header's length is 100000001, expected at most 100000000"),
      claims("C01_length_100000000", 100'000'000, "the header's length is 100000000, but only"),
      claims("C01_length_file_size_minus_7", file.size() - 7,
             fmt::format("the header's length is {}, but only {} bytes follow", file.size() - 7, file.size() - 8)),
      claims("C01_length_0", 0, "the header of 0 bytes does not start with '{'"),
      claims("C01_length_1", 1, "the header is not JSON, byte 2 of it"),
      {"C01_seven_bytes", "1234567", "7 bytes, the length of a header takes 8"},
      {"C01_empty", "", "not a checkpoint: empty", ErrorCode::kNotACheckpoint},
      {"A20_lfs_pointer", "version https://git-lfs.github.com/spec/v1\n", "not a checkpoint: a git-LFS pointer",
       ErrorCode::kNotACheckpoint},
      {"A20_html", "<!DOCTYPE html><html>", "not a checkpoint: an HTML page", ErrorCode::kNotACheckpoint},
  };
}

// `header` with enough data for offsets up to 8.
Bad bad(std::string id, std::string_view header, std::string message, ErrorCode code = ErrorCode::kSafetensors) {
  return {std::move(id), safetensors_file(header, eight()), std::move(message), code};
}

Bad bad_member(std::string id, std::string_view dtype, std::string_view shape, std::string_view offsets,
               std::string_view message, ErrorCode code = ErrorCode::kSafetensors) {
  return bad(std::move(id), "{" + header_member("a", dtype, shape, offsets) + "}",
             fmt::format("tensor 'a': {}", message), code);
}

std::vector<Bad> bad_json() {
  const std::string a = header_member("a", kF32, "[2]", "[0,8]");
  return {
      bad("C02_tensor_twice", "{" + a + "," + a + "}", "tensor 'a' occurs twice"),
      bad("C02_metadata_twice", R"({"__metadata__":{},"__metadata__":{},)" + a + "}", "'__metadata__' occurs twice"),
      bad("C02_metadata_key_twice", R"({"__metadata__":{"k":"1","k":"2"},)" + a + "}",
          "__metadata__: key \"k\" occurs twice"),
      bad("C02_dtype_twice", R"({"a":{"dtype":"F32","dtype":"F16","shape":[2],"data_offsets":[0,8]}})",
          "tensor 'a': 'dtype' occurs twice"),
      bad("C02_shape_twice", R"({"a":{"dtype":"F32","shape":[2],"shape":[2],"data_offsets":[0,8]}})",
          "tensor 'a': 'shape' occurs twice"),
      bad("C03_list", "[]", "the header of 2 bytes does not start with '{'"),
      bad("C03_null", "null", "the header of 4 bytes does not start with '{'"),
      bad("C03_number_for_tensor", R"({"a":1})", "tensor 'a': is 1, expected an object"),
      bad("C03_string_for_tensor", R"({"a":"F32"})", "tensor 'a': is a string, expected an object"),
      bad("C03_list_for_tensor", R"({"a":[0,8]})", "tensor 'a': is a list, expected an object"),
      bad("C03_null_for_tensor", R"({"a":null})", "tensor 'a': is null, expected an object"),
      bad("C03_no_dtype", R"({"a":{"shape":[2],"data_offsets":[0,8]}})", "tensor 'a': 'dtype' is missing"),
      bad("C03_no_shape", R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", "tensor 'a': 'shape' is missing"),
      bad("C03_no_offsets", R"({"a":{"dtype":"F32","shape":[2]}})", "tensor 'a': 'data_offsets' is missing"),
      bad("C03_member_unknown", R"({"a":{"dtype":"F32","shape":[2],"offsets":[0,8]}})",
          "tensor 'a': member \"offsets\" is unknown, expected dtype, shape, data_offsets"),
      bad("C03_object_in_shape", R"({"a":{"dtype":"F32","shape":[{}],"data_offsets":[0,8]}})",
          "tensor 'a': shape holds an object"),
      bad("C06_metadata_number", R"({"__metadata__":{"k":1}})", "__metadata__: its key \"k\" is 1, expected a string"),
      bad("C06_metadata_object", R"({"__metadata__":{"k":{}}})", "__metadata__: its key \"k\" is an object"),
      bad("C06_metadata_list", R"({"__metadata__":[]})", "__metadata__: is a list, expected an object"),
      bad("json_cut", R"({"a":{"dtype":"F32")", "the header is not JSON, byte 20 of it"),
      bad("json_more", "{" + a + "}{}", "the header is not JSON"),
      bad("json_nul", "{" + a + "}" + std::string(1, '\0') + "x", "the header is not JSON"),
      bad("json_single_quotes", "{'a':1}", "the header is not JSON, byte 2 of it"),
      bad("json_not_utf8", "{\"a\xFF\":1}", "the header is not JSON"),
      bad("name_empty", "{" + header_member("", kF32, "[2]", "[0,8]") + "}", "a tensor's name \"\" is empty"),
      bad("name_newline", "{" + header_member("a\\n", kF32, "[2]", "[0,8]") + "}",
          "a tensor's name \"a\\n\" is empty or"),
      bad("name_nul", "{" + header_member("a\\u0000", kF32, "[2]", "[0,8]") + "}", "a tensor's name"),
      bad("name_long", "{" + header_member(std::string(1025, 'a'), kF32, "[2]", "[0,8]") + "}",
          "a tensor's name has 1025 bytes, expected at most 1024"),
      bad("dims", "{" + header_member("a", kF32, "[1,1,1,1,1,1,1,1,2]", "[0,8]") + "}",
          "tensor 'a': has more than 8 dims"),
  };
}

std::vector<Bad> bad_ranges() {
  return {
      bad_member("C03_length_contradicts_shape", kF32, "[1000,1000]", "[0,4]",
                 "[1000, 1000] F32 takes 4000000 bytes, data_offsets [0, 4] give 4"),
      bad_member("C03_backwards", kF32, "[2]", "[8,0]", "data_offsets [8, 0] end before they begin"),
      bad_member("C03_one_offset", kF32, "[2]", "[0]", "data_offsets hold 1 numbers, expected 2"),
      bad_member("C03_three_offsets", kF32, "[2]", "[0,4,8]", "data_offsets hold 3 numbers, expected 2"),
      bad_member("C03_negative_offset", kF32, "[2]", "[-1,7]", "data_offsets holds -1, expected whole numbers"),
      bad_member("C03_float_offset", kF32, "[2]", "[0,1.5]", "data_offsets holds 1.5, expected whole numbers"),
      bad_member("C03_string_offset", kF32, "[2]", R"([0,"8"])", "data_offsets holds a string, expected whole numbers"),
      bad_member("C03_offset_2_64", kF32, "[2]", "[0,18446744073709551616]",
                 "data_offsets holds 18446744073709551616, expected whole numbers"),
      bad_member("C03_offset_2_64_minus_1", kF32, "[2]", "[0,18446744073709551615]",
                 "data_offsets [0, 18446744073709551615] end beyond the data, which has 8 bytes"),
      bad_member("C03_beyond_file", kF32, "[3]", "[0,12]",
                 "data_offsets [0, 12] end beyond the data, which has 8 bytes"),
      bad_member("C03_offsets_no_list", kF32, "[2]", "8", "data_offsets is 8, expected a list of two numbers"),
      bad_member("C03_negative_dim", kF32, "[-1]", "[0,8]", "shape holds -1, expected whole numbers"),
      bad_member("C03_dim_2_63", kF32, "[9223372036854775808]", "[0,8]", "shape holds 9223372036854775808, expected"),
      bad_member("C03_float_dim", kF32, "[2.0]", "[0,8]", "shape holds 2.0, expected whole numbers"),
      bad_member("C03_shape_no_list", kF32, "2", "[0,8]", "shape is 2, expected a list of numbers"),
      bad_member("C03_product_wraps", kF32, "[4294967296,4294967296,2]", "[0,8]",
                 "size of [4294967296, 4294967296, 2] F32 overflows"),
      bad_member("C03_bytes_wrap", R"("F64")", "[2305843009213693953]", "[0,8]",
                 "size of [2305843009213693953] F64 overflows"),
      bad_member("C05_unknown_dtype", R"("F7")", "[2]", "[0,8]", "dtype \"F7\" is unknown", ErrorCode::kBlockType),
      bad_member("C05_unknown_dtype_beyond_file", R"("F7")", "[2]", "[0,9]", "data_offsets [0, 9] end beyond the data"),
      bad_member("C05_lower_case_dtype", R"("f32")", "[2]", "[0,8]", "dtype \"f32\" is unknown", ErrorCode::kBlockType),
      bad_member("C05_number_for_dtype", "5", "[2]", "[0,8]", "dtype is 5, expected a string"),
      bad_member("C06_one_element_no_bytes", kF32, "[1]", "[0,0]", "[1] F32 takes 4 bytes, data_offsets [0, 0] give 0"),
      bad_member("C08_odd_nibbles", R"("F4")", "[15]", "[0,8]", "15 elements of F4 take no whole number of bytes"),
      bad_member("C08_f6_three", R"("F6_E2M3")", "[3]", "[0,8]", "3 elements of F6_E2M3 take no whole number of bytes"),
  };
}

std::vector<Bad> bad_cover() {
  const auto two = [](std::string id, std::string_view first, std::string_view second, std::string message) {
    return Bad{std::move(id),
               safetensors_file(
                   "{" + header_member("k", kF32, "[2]", first) + "," + header_member("v", kF32, "[2]", second) + "}",
                   std::string(32, 'x')),
               std::move(message)};
  };
  return {
      two("C04_one_range_twice", "[0,8]", "[0,8]", "tensors 'k' and 'v' overlap: bytes 0 to 8, and 0 on"),
      two("C04_overlap", "[4,12]", "[0,8]", "tensors 'v' and 'k' overlap: bytes 0 to 8, and 4 on"),
      two("C04_hole", "[0,8]", "[24,32]", "tensor 'v' begins at byte 24 of the data, after a hole of 16 bytes"),
      two("C04_hole_in_front", "[16,24]", "[24,32]",
          "tensor 'k' begins at byte 16 of the data, after a hole of 16 bytes"),
      two("C04_tail", "[0,8]", "[8,16]", "16 bytes follow the data of the last tensor"),
      {"C04_tail_64", build_safetensors({{.name = "a", .shape = {2}, .bytes = eight()}}) + std::string(64, '\0'),
       "64 bytes follow the data of the last tensor"},
      {"C04_data_of_no_tensor", safetensors_file("{}", "x"), "1 bytes follow the data of the last tensor"},
  };
}

std::string case_name(const ::testing::TestParamInfo<Bad>& info) { return info.param.id; }

INSTANTIATE_TEST_SUITE_P(Lengths, BadSafetensors, ::testing::ValuesIn(bad_lengths()), case_name);
INSTANTIATE_TEST_SUITE_P(Json, BadSafetensors, ::testing::ValuesIn(bad_json()), case_name);
INSTANTIATE_TEST_SUITE_P(Ranges, BadSafetensors, ::testing::ValuesIn(bad_ranges()), case_name);
INSTANTIATE_TEST_SUITE_P(Cover, BadSafetensors, ::testing::ValuesIn(bad_cover()), case_name);

// Every proper prefix of a good file is refused, never read as something else.
TEST(Safetensors, EveryTruncationIsRefused) {
  const std::string file = build_safetensors(
      {{.name = "a", .shape = {2}, .bytes = eight()}, {.name = "b", .dtype = "I8", .shape = {3}, .bytes = "abc"}},
      R"({"format":"pt"})");
  ASSERT_OK(read_safetensors_bytes(file));
  for (size_t length = 0; length < file.size(); ++length)
    EXPECT_FALSE(read_safetensors_bytes(file.substr(0, length)).has_value()) << length;
}

TEST(Safetensors, ManyTensorsAndMetadataKeysAreRefused) {
  std::string header = "{";
  for (int i = 0; i <= 1 << 17; ++i) header += header_member(std::to_string(i), kF32, "[0]", "[0,0]") + ",";
  header.back() = '}';
  EXPECT_THAT(read_safetensors_bytes(safetensors_file(header)),
              IsError(ErrorCode::kSafetensors, HasSubstr("more than 131072 tensors")));
  header = R"({"__metadata__":{)";
  for (int i = 0; i <= 1 << 14; ++i) header += fmt::format(R"("{}":"",)", i);
  header.back() = '}';
  EXPECT_THAT(read_safetensors_bytes(safetensors_file(header + "}")),
              IsError(ErrorCode::kSafetensors, HasSubstr("__metadata__: has more than 16384 keys")));
}

TEST(Safetensors, IsAnIndexByOffset) {
  const std::string header = "{" + header_member("late", kF32, "[1,2]", "[4,12]") + "," +
                             header_member("early", R"("BF16")", "[2]", "[0,4]") + "}";
  ASSERT_OK_AND_ASSIGN(const auto file, read_safetensors_bytes(safetensors_file(header, "0123456789ab")));
  ASSERT_EQ(file.tensors.size(), 2U);
  EXPECT_EQ(file.tensors[0].name, "early");
  EXPECT_EQ(file.tensors[0].type, BlockType::kBF16);
  EXPECT_EQ(file.tensors[0].offset_bytes, 8 + header.size());
  EXPECT_EQ(file.tensors[1].name, "late");
  EXPECT_THAT(file.tensors[1].shape, ElementsAre(1, 2));
  EXPECT_EQ(file.tensors[1].offset_bytes, 8 + header.size() + 4);
  EXPECT_EQ(file.tensors[1].length_bytes, 8U);
}

// What looks odd and is right. The shape of a scalar is pinned to {1}.
TEST(Safetensors, AcceptsScalarsEmptyTensorsPaddingAndNothing_C06) {
  const std::string header = R"({"__metadata__":{},)" + header_member("scalar", kF32, "[]", "[0,4]") + "," +
                             header_member("a", kF32, "[1]", "[4,8]") + "," +
                             header_member("none", kF32, "[0,4]", "[4,4]") + "," +
                             header_member("none2", kF32, "[3,0]", "[4,4]") + "," +
                             header_member("end", kF32, "[0]", "[8,8]") + "}" + std::string(61, ' ') + "\n\t ";
  ASSERT_OK_AND_ASSIGN(const auto file, read_safetensors_bytes(safetensors_file(header, eight())));
  std::vector<std::string> names;
  for (const TensorEntry& t : file.tensors) names.push_back(t.name);
  EXPECT_THAT(names, ElementsAre("scalar", "none", "none2", "a", "end"));
  EXPECT_THAT(file.tensors[0].shape, ElementsAre(1));
  EXPECT_THAT(file.tensors[1].shape, ElementsAre(0, 4));
  EXPECT_EQ(file.tensors[1].length_bytes, 0U);
  ASSERT_OK_AND_ASSIGN(const auto nothing, read_safetensors_bytes(safetensors_file("{}")));
  EXPECT_THAT(nothing.tensors, IsEmpty());
  EXPECT_OK(read_safetensors_bytes(safetensors_file(R"({"__metadata__":{"format":"pt","":"\u0000\n"}})")));
}

TEST(Safetensors, KnowsEveryDtype_C08) {
  for (const BlockTypeInfo& row : block_type_table()) {
    if (row.safetensors.empty()) continue;
    SCOPED_TRACE(std::string(row.name));
    const auto bytes = static_cast<size_t>(row.block_bytes);
    ASSERT_OK_AND_ASSIGN(const auto file,
                         read_safetensors_bytes(build_safetensors({{.name = "x",
                                                                    .dtype = std::string(row.safetensors),
                                                                    .shape = {3, row.block_elements},
                                                                    .bytes = std::string(3 * bytes, 'x')}})));
    EXPECT_EQ(&info(file.tensors[0].type), &row);
    EXPECT_EQ(file.tensors[0].length_bytes, 3 * bytes);
  }
}

// [4, 1] of F4: rows that are no whole number of bytes, in two bytes.
TEST(Safetensors, PacksAcrossRows_C08) {
  ASSERT_OK_AND_ASSIGN(
      const auto file,
      read_safetensors_bytes(build_safetensors({{.name = "x", .dtype = "F4", .shape = {4, 1}, .bytes = "xy"}})));
  EXPECT_THAT(file.tensors[0].shape, ElementsAre(4, 1));
}

// A header of 640 bytes starts like a pickle, one of 35,615 like gzip data.
TEST(Safetensors, LengthsThatLookLikeMagicsAreRead) {
  for (const size_t length : {0x0280U, 0x0480U, 0x8B1FU}) {
    std::string header = "{}";
    header.resize(length, ' ');
    EXPECT_OK(read_safetensors_bytes(safetensors_file(header))) << length;
  }
}

TEST(Safetensors, OffsetsBeyond4GiBAreRead_C09) {
  const TempDir dir;
  const uint64_t large = (uint64_t{1} << 32) + 16;
  const std::string header = "{" +
                             header_member("u", R"("U8")", fmt::format("[{}]", large), fmt::format("[0,{}]", large)) +
                             "," + header_member("f", kF32, "[1]", fmt::format("[{},{}]", large, large + 4)) + "}";
  const std::string path = dir.write("t.safetensors", safetensors_file(header));
  {
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(static_cast<std::streamoff>(8 + header.size() + large));
    const std::string value = f32_bytes({2.5F});
    file.write(value.data(), 4);
  }
  rusage before = {};
  rusage after = {};
  getrusage(RUSAGE_SELF, &before);
  ASSERT_OK_AND_ASSIGN(const InputFile input, InputFile::open(path));
  HeaderHash hash;
  ASSERT_OK_AND_ASSIGN(const auto read, read_safetensors(input, hash));
  std::array<float, 1> value{};
  ASSERT_OK(input.read_at(read.tensors.at(1).offset_bytes, std::as_writable_bytes(std::span(value))));
  EXPECT_EQ(value[0], 2.5F);
  getrusage(RUSAGE_SELF, &after);
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 10 << 10);  // KiB
}

}  // namespace
}  // namespace headrace::testing
