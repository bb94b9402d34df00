// A file being written under a temporary name: it appears under its own name only when it is whole and on the disk, and
// is gone if that never happens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headrace {

// Temporary names start with this; whoever holds an export directory's lock may remove them.
inline constexpr std::string_view kTemporaryPrefix = ".headrace-tmp-";

class OutputFile {
 public:
  // Creates `name` in the directory open as `directory`, which stays open while this lives. `shown_directory` is its
  // path for messages. An old file of that name is replaced. Errors: kFileWrite.
  [[nodiscard]] static Result<OutputFile> create(int directory, std::string shown_directory, std::string name);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&& other) noexcept;
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;
  ~OutputFile();  // removes the file unless it was published

  // Checks the free space, then takes the space if the file system can do that: later writes within it cannot run out.
  // Errors: kNoSpace with needed and free bytes.
  [[nodiscard]] Status reserve(uint64_t total_bytes);
  // Sets the length without taking space: what is not written stays a hole that reads as zeros. Errors: kFileWrite.
  [[nodiscard]] Status stretch(uint64_t total_bytes);
  // Errors: kFileWrite, kNoSpace.
  [[nodiscard]] Status write_at(uint64_t offset_bytes, std::span<const std::byte> bytes);
  // Asks the kernel to start writing a range to the disk, so that the last sync has little left to do. A hint.
  void start_writeback(uint64_t offset_bytes, uint64_t length_bytes) const;
  // Returns when all bytes are on the disk. Errors: kFileWrite, kNoSpace.
  [[nodiscard]] Status sync();
  // Renames to `name` relative to the same directory, replacing what is there. Precondition: sync() succeeded after the
  // last write.
  [[nodiscard]] Status publish(const std::string& name);

 private:
  OutputFile(int directory, std::string shown, std::string name, int descriptor)
      : directory_(directory), shown_(std::move(shown)), name_(std::move(name)), descriptor_(descriptor) {}

  int directory_ = -1;
  std::string shown_;
  std::string name_;  // empty once published
  int descriptor_ = -1;
};

// `<directory>/<name>: <what>: <errno in words>`; ENOSPC and EDQUOT become kNoSpace, all others kFileWrite.
[[nodiscard]] tl::unexpected<Error> write_failure(std::string_view directory, std::string_view name,
                                                  std::string_view what, int error_number);

}  // namespace headrace
