// A file opened for reading by position. Weights are never mapped: a mapped source counts as resident memory, and a
// truncation under it is a signal, not an error.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "formats/checkpoint.h"

namespace headrace {

class InputFile {
 public:
  // Follows symbolic links (model caches are made of them). Errors: kFileOpen for what cannot be opened and for
  // directories, pipes and devices.
  [[nodiscard]] static Result<InputFile> open(const std::string& path);
  // Opens again a file whose header was read before. Errors: kFileOpen; kFileRead if it was replaced or changed since.
  [[nodiscard]] static Result<InputFile> reopen(const SourceFile& seen);

  InputFile(InputFile&& other) noexcept;
  InputFile& operator=(InputFile&& other) noexcept;
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;
  ~InputFile();

  [[nodiscard]] const SourceFile& source() const { return source_; }
  [[nodiscard]] const std::string& path() const { return source_.path; }
  [[nodiscard]] uint64_t size_bytes() const { return source_.size_bytes; }

  // Fills all of `out` from `offset_bytes` on; may be called from several threads at once.
  // Errors: kFileRead, with the sizes, if the range does not lie in the file or reading fails.
  [[nodiscard]] Status read_at(uint64_t offset_bytes, std::span<std::byte> out) const;
  // The same into a string. Errors: kFileRead, before anything is allocated when the range does not lie in the file.
  [[nodiscard]] Result<std::string> read_text(uint64_t offset_bytes, uint64_t length_bytes) const;

 private:
  InputFile(int descriptor, SourceFile source) : descriptor_(descriptor), source_(std::move(source)) {}

  int descriptor_ = -1;
  SourceFile source_;
};

}  // namespace headrace
