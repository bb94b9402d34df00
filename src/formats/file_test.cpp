#include "formats/file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <limits>

#include "base/testing.h"
#include "formats/gguf_testing.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;

std::string read(const InputFile& file, uint64_t offset, size_t count) {
  std::string out(count, '?');
  EXPECT_OK(file.read_at(offset, std::as_writable_bytes(std::span(out))));
  return out;
}

TEST(InputFile, ReadsExactlyByPosition) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(const InputFile file, InputFile::open(dir.write("f", "0123456789")));
  EXPECT_EQ(file.size_bytes(), 10U);
  EXPECT_EQ(read(file, 0, 10), "0123456789");
  EXPECT_EQ(read(file, 7, 3), "789");
  EXPECT_EQ(read(file, 10, 0), "");
}

TEST(InputFile, RangesOutsideTheFileAreErrors) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(const InputFile file, InputFile::open(dir.write("f", "0123456789")));
  std::array<std::byte, 4> out;
  EXPECT_THAT(file.read_at(7, out),
              IsError(ErrorCode::kFileRead, HasSubstr("4 bytes wanted at offset 7, the file has 10")));
  EXPECT_THAT(file.read_at(std::numeric_limits<uint64_t>::max() - 1, out),
              IsError(ErrorCode::kFileRead, HasSubstr("the file has 10")));
}

TEST(InputFile, FileThatShrinksWhileReadIsAnError) {
  const TempDir dir;
  const std::string path = dir.write("f", "0123456789");
  ASSERT_OK_AND_ASSIGN(const InputFile file, InputFile::open(path));
  std::filesystem::resize_file(path, 4);
  std::array<std::byte, 8> out;
  EXPECT_THAT(file.read_at(0, out), IsError(ErrorCode::kFileRead, HasSubstr("ended at offset 4 while it was read")));
}

TEST(InputFile, PipeIsRefusedWithoutWaiting) {
  const TempDir dir;
  const std::string path = dir.path() + "/pipe";
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(InputFile::open(path), IsError(ErrorCode::kFileOpen, HasSubstr("not a regular file")));
}

TEST(InputFile, SymbolicLinksAreFollowed) {
  const TempDir dir;
  std::filesystem::create_symlink(dir.write("f", "abc"), dir.path() + "/link");
  ASSERT_OK_AND_ASSIGN(const InputFile file, InputFile::open(dir.path() + "/link"));
  EXPECT_EQ(read(file, 0, 3), "abc");
}

TEST(InputFile, ReopenNoticesAnotherFile) {
  const TempDir dir;
  const std::string path = dir.write("f", "abc");
  SourceFile seen;
  {
    ASSERT_OK_AND_ASSIGN(const InputFile file, InputFile::open(path));
    seen = file.source();
  }
  EXPECT_OK(InputFile::reopen(seen));
  std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) + std::chrono::seconds(2));
  EXPECT_THAT(InputFile::reopen(seen), IsError(ErrorCode::kFileRead, HasSubstr("replaced or modified")));
  (void)dir.write("f", "abcd");
  EXPECT_THAT(InputFile::reopen(seen), IsError(ErrorCode::kFileRead, HasSubstr("4 bytes, before 3")));
  std::filesystem::remove(path);
  EXPECT_THAT(InputFile::reopen(seen), IsError(ErrorCode::kFileOpen, HasSubstr("cannot be opened")));
}

TEST(InputFile, MovesKeepOneDescriptor) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(InputFile a, InputFile::open(dir.write("a", "aaa")));
  ASSERT_OK_AND_ASSIGN(InputFile b, InputFile::open(dir.write("b", "bbb")));
  a = std::move(b);
  EXPECT_EQ(read(a, 0, 3), "bbb");
  const InputFile c = std::move(a);
  EXPECT_EQ(read(c, 0, 3), "bbb");
}

}  // namespace
}  // namespace headrace::testing
