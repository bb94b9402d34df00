// Reads a container's header front to back through a bounded window. Every number, string and array comes through here,
// so that nothing can be read past the file's end, and nothing is allocated that the bytes left do not justify.
#pragma once

#include <xxhash.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "formats/file.h"

namespace headrace {

// Running XXH3-128 over the header bytes of all files of a checkpoint.
class HeaderHash {
 public:
  HeaderHash();
  void add(std::span<const std::byte> bytes);
  [[nodiscard]] std::string hex() const;  // 32 digits, most significant first

 private:
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  std::unique_ptr<XXH3_state_t, Free> state_;
};

class HeaderReader {
 public:
  // A header beyond this size is refused; the largest real ones (vocabularies of 262,144) take 20 MB.
  static constexpr uint64_t kMaxHeaderBytes = uint64_t{256} << 20;

  // Both must outlive the reader.
  HeaderReader(const InputFile& file, HeaderHash& hash);

  [[nodiscard]] uint64_t position_bytes() const { return window_start_ + cursor_; }
  // What is left before the end of the file or of the largest header.
  [[nodiscard]] uint64_t left_bytes() const { return limit_ - position_bytes(); }

  // Errors of all: `code`, with the bytes needed and the file's size; kFileRead.
  // Fails unless `count` items of at least `item_bytes` each are left; call it before reserving room for them.
  [[nodiscard]] Status need(uint64_t count, uint64_t item_bytes) const;
  [[nodiscard]] Status read(std::span<std::byte> out);
  [[nodiscard]] Result<std::string> text(uint64_t length_bytes);
  template <class T>
  [[nodiscard]] Result<T> number() {
    T value{};
    HR_TRY_STATUS(read(std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }

  // The code that errors carry from now on: it follows the section of the header.
  void set_code(ErrorCode code) { code_ = code; }
  [[nodiscard]] ErrorCode code() const { return code_; }

 private:
  [[nodiscard]] Status refill();

  const InputFile& file_;
  HeaderHash& hash_;
  uint64_t limit_;
  uint64_t window_start_ = 0;
  size_t cursor_ = 0;
  size_t filled_ = 0;
  ErrorCode code_ = ErrorCode::kGgufHeader;
  std::array<std::byte, size_t{32} << 10> window_;
};

}  // namespace headrace
