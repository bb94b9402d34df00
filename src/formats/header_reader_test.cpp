#include "formats/header_reader.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing.h"
#include "formats/gguf_testing.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;

std::string numbered(size_t size) {
  std::string out(size, '\0');
  for (size_t i = 0; i < size; ++i) out[i] = static_cast<char>(i * 7 + i / 256);
  return out;
}

TEST(HeaderReader, ReadsAcrossItsWindow) {
  const TempDir dir;
  const std::string bytes = numbered(100'001);
  ASSERT_OK_AND_ASSIGN(const InputFile file, InputFile::open(dir.write("f", bytes)));
  for (const size_t step : {1U, 7U, 32768U, 32769U, 100'001U}) {
    HeaderHash hash;
    HeaderReader reader(file, hash);
    std::string seen;
    while (reader.left_bytes() > 0) {
      ASSERT_OK_AND_ASSIGN(const std::string piece, reader.text(std::min<uint64_t>(step, reader.left_bytes())));
      seen += piece;
      ASSERT_EQ(reader.position_bytes(), seen.size());
    }
    EXPECT_EQ(seen, bytes);
    HeaderHash whole;
    whole.add(std::as_bytes(std::span(bytes)));
    EXPECT_EQ(hash.hex(), whole.hex()) << "the hash must not depend on how the bytes are read";
  }
}

TEST(HeaderReader, HashIsXxh3OfTheBytes) {
  // xxhsum -H2 of an empty input.
  EXPECT_EQ(HeaderHash().hex(), "99aa06d3014798d86001c324468d497f");
}

TEST(HeaderReader, CountsAreCheckedBeforeTheyAreUsed) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(const InputFile file, InputFile::open(dir.write("f", numbered(64))));
  HeaderHash hash;
  HeaderReader reader(file, hash);
  EXPECT_OK(reader.need(8, 8));
  EXPECT_OK(reader.need(0, 8));
  reader.set_code(ErrorCode::kGgufTensor);
  EXPECT_THAT(reader.need(9, 8), IsError(ErrorCode::kGgufTensor, HasSubstr("9 items of at least 8 bytes at offset 0")));
  EXPECT_THAT(reader.need(uint64_t{1} << 61, 8), IsError(ErrorCode::kGgufTensor, HasSubstr("the file has 64 bytes")));
  EXPECT_THAT(reader.text(uint64_t{1} << 63), IsError(ErrorCode::kGgufTensor, HasSubstr("truncated or corrupt")));
  EXPECT_EQ(reader.position_bytes(), 0U);
}

TEST(HeaderReader, HugeHeadersOfHugeFilesAreRefused) {
  const TempDir dir;
  const std::string path = dir.write("f", "");
  std::filesystem::resize_file(path, uint64_t{1} << 33);  // sparse
  ASSERT_OK_AND_ASSIGN(const InputFile file, InputFile::open(path));
  HeaderHash hash;
  HeaderReader reader(file, hash);
  EXPECT_THAT(reader.text(uint64_t{1} << 32),
              IsError(ErrorCode::kGgufHeader, HasSubstr("beyond the largest header of 268435456 bytes")));
}

}  // namespace
}  // namespace headrace::testing
