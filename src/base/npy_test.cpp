#include "base/npy.h"

#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::IsError;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

// A file of version 1 with this dictionary and `data` zero bytes.
std::vector<std::byte> file_with(std::string_view dictionary, size_t data) {
  std::string text("\x93NUMPY\x01\x00", 8);
  text += {static_cast<char>(dictionary.size() & 0xFFU), static_cast<char>(dictionary.size() >> 8U)};
  text += dictionary;
  text.append(data, '\0');
  return bytes_of(text);
}

std::string temporary(std::string_view name) { return ::testing::TempDir() + std::string(name); }

TEST(NpyTest, EveryTypeRoundTrips) {
  const std::string path = temporary("round_trip.npy");
  for (size_t i = 0; i < std::size(kDTypeTable); ++i) {
    const auto dtype = static_cast<DType>(i);
    for (const std::vector<int64_t>& sizes : {std::vector<int64_t>{}, {3}, {0, 4}, {2, 3, 5}}) {
      size_t count = 1;
      for (const int64_t size : sizes) count *= static_cast<size_t>(size);
      std::vector<std::byte> bytes(count * static_cast<size_t>(storage_bytes(dtype)));
      for (size_t b = 0; b < bytes.size(); ++b) bytes[b] = static_cast<std::byte>(b * 7 + 1);
      if (info(dtype).numpy.empty()) {
        EXPECT_THAT(write_npy(path, dtype, sizes, bytes), IsError(ErrorCode::kNpy, HasSubstr("no type for bf16")));
        continue;
      }
      ASSERT_OK(write_npy(path, dtype, sizes, bytes));
      ASSERT_OK_AND_ASSIGN(const auto read, read_npy(path));
      EXPECT_EQ(read.dtype, dtype);
      EXPECT_EQ(read.sizes, sizes);
      EXPECT_EQ(read.bytes, bytes);
    }
  }
}

TEST(NpyTest, HeaderIsNumpys) {
  ASSERT_OK_AND_ASSIGN(const auto header, npy_header(DType::kF32, std::array<int64_t, 3>{1, 5, 7}));
  const std::string text(reinterpret_cast<const char*>(header.data()), header.size());
  EXPECT_EQ(text.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_THAT(text.substr(10),
              ::testing::StartsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (1, 5, 7), } "));
  EXPECT_EQ(header.size() % 64, 0);
  EXPECT_EQ(text.back(), '\n');
}

TEST(NpyTest, OrderAndBlanksOfTheDictionaryDoNotMatter) {
  ASSERT_OK_AND_ASSIGN(const auto array,
                       parse_npy(file_with("{ \"shape\":(2,) ,'fortran_order' : True,'descr':'<i4'}", 8)));
  EXPECT_EQ(array.dtype, DType::kI32);
  EXPECT_THAT(array.sizes, ElementsAre(2));
  ASSERT_OK_AND_ASSIGN(const auto scalar,
                       parse_npy(file_with("{'descr': '|u1', 'fortran_order': False, 'shape': ()}", 1)));
  EXPECT_THAT(scalar.sizes, IsEmpty());
}

TEST(NpyTest, RefusesWhatIsMalformed) {
  struct Bad {
    std::vector<std::byte> file;
    std::string message;
  };
  const std::string good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }";
  const auto with = [&](std::string_view from, std::string_view to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return file_with(text, 16);
  };
  auto version = file_with(good, 16);
  version[6] = std::byte{9};
  auto cut = file_with(good, 16);
  cut.resize(40);
  for (const Bad& bad : {Bad{{}, "does not start"},
                         Bad{bytes_of("PK\x03\x04 a zip file"), "does not start"},
                         Bad{version, "version 9"},
                         Bad{cut, "header of"},
                         Bad{bytes_of(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF", 11)), "ends inside"},
                         Bad{bytes_of(std::string("\x93NUMPY\x02\x00\xFF\xFF\xFF\xFF{}", 14)), "header of 4294967295"},
                         Bad{file_with(good, 15), "15 bytes of data for f32[2, 2]"},
                         Bad{file_with(good, 17), "17 bytes of data"},
                         Bad{with("<f4", ">f4"), "'>f4'"},
                         Bad{with("'<f4'", "[('a', '<f4')]"), "not a dictionary"},
                         Bad{with("<f4", "|O"), "'|O'"},
                         Bad{with("False", "True"), "column-major"},
                         Bad{with("False", "0"), "not a dictionary"},
                         Bad{with("(2, 2)", "(-2, -2)"), "f32[-2, -2]"},
                         Bad{with("(2, 2)", "(4611686018427387904, 4)"), "bytes of data"},
                         Bad{with("(2, 2)", "(99999999999999999999,)"), "not a dictionary"},
                         Bad{with("(2, 2)", "(2 2)"), "not a dictionary"},
                         Bad{with("'shape'", "'descr'"), "not a dictionary"},
                         Bad{with("}", "} 1"), "not a dictionary"},
                         Bad{with("}", ""), "not a dictionary"},
                         Bad{file_with("", 0), "not a dictionary"}}) {
    EXPECT_THAT(parse_npy(bad.file), IsError(ErrorCode::kNpy, HasSubstr(bad.message)));
  }
}

TEST(NpyTest, FilesThatCannotBeUsed) {
  EXPECT_THAT(read_npy(temporary("absent.npy")), IsError(ErrorCode::kFileOpen, HasSubstr("absent.npy")));
  EXPECT_THAT(read_npy(::testing::TempDir()), IsError(ErrorCode::kFileOpen, HasSubstr("not a regular file")));
  EXPECT_THAT(write_npy(temporary("no/such/folder.npy"), DType::kI8, {}, std::array{std::byte{1}}),
              IsError(ErrorCode::kFileOpen, HasSubstr("cannot be opened")));
  if (std::filesystem::exists("/dev/full")) {
    EXPECT_THAT(write_npy("/dev/full", DType::kI8, {}, std::array{std::byte{1}}),
                IsError(ErrorCode::kFileWrite, HasSubstr("/dev/full")));
    EXPECT_TRUE(std::filesystem::exists("/dev/full"));
  }
}

}  // namespace
}  // namespace headrace
