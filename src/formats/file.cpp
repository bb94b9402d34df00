#include "formats/file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/checked.h"

namespace headrace {

static_assert(sizeof(off_t) == 8, "files beyond 2 GiB need 64-bit offsets");

namespace {

SourceFile identity(const std::string& path, const struct stat& st) {
  return {.path = path,
          .size_bytes = static_cast<uint64_t>(st.st_size),
          .device = static_cast<uint64_t>(st.st_dev),
          .inode = static_cast<uint64_t>(st.st_ino),
          .modified_ns = static_cast<int64_t>(st.st_mtim.tv_sec) * 1'000'000'000 + st.st_mtim.tv_nsec};
}

}  // namespace

Result<InputFile> InputFile::open(const std::string& path) {
  // O_NONBLOCK: opening a pipe must not wait for its writer; regular files ignore it.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return fail(ErrorCode::kFileOpen, "{}: cannot be opened: {}", path, std::strerror(errno));
  InputFile file(descriptor, {.path = path});
  struct stat st = {};
  if (::fstat(descriptor, &st) != 0) return fail(ErrorCode::kFileOpen, "{}: {}", path, std::strerror(errno));
  if (S_ISDIR(st.st_mode)) return fail(ErrorCode::kFileOpen, "{}: a directory, expected a file", path);
  if (!S_ISREG(st.st_mode)) return fail(ErrorCode::kFileOpen, "{}: not a regular file", path);
  file.source_ = identity(path, st);
  return file;
}

Result<InputFile> InputFile::reopen(const SourceFile& seen) {
  HR_TRY(InputFile file, open(seen.path));
  const SourceFile& now = file.source_;
  if (now.size_bytes != seen.size_bytes)
    return fail(ErrorCode::kFileRead, "{}: changed since its header was read: {} bytes, before {}", seen.path,
                now.size_bytes, seen.size_bytes);
  if (now.device != seen.device || now.inode != seen.inode || now.modified_ns != seen.modified_ns)
    return fail(ErrorCode::kFileRead, "{}: replaced or modified since its header was read", seen.path);
  return file;
}

InputFile::InputFile(InputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), source_(std::move(other.source_)) {}

InputFile& InputFile::operator=(InputFile&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(source_, other.source_);
  return *this;
}

InputFile::~InputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

Status InputFile::read_at(uint64_t offset_bytes, std::span<std::byte> out) const {
  const auto end = checked_add(offset_bytes, static_cast<uint64_t>(out.size()));
  if (!end || *end > size_bytes())
    return fail(ErrorCode::kFileRead, "{}: {} bytes wanted at offset {}, the file has {}", path(), out.size(),
                offset_bytes, size_bytes());
  while (!out.empty()) {
    const ssize_t got = ::pread(descriptor_, out.data(), out.size(), static_cast<off_t>(offset_bytes));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      return fail(ErrorCode::kFileRead, "{}: reading at offset {}: {}", path(), offset_bytes, std::strerror(errno));
    if (got == 0)
      return fail(ErrorCode::kFileRead, "{}: ended at offset {} while it was read, had {} bytes when opened", path(),
                  offset_bytes, size_bytes());
    offset_bytes += static_cast<uint64_t>(got);
    out = out.subspan(static_cast<size_t>(got));
  }
  return {};
}

Result<std::string> InputFile::read_text(uint64_t offset_bytes, uint64_t length_bytes) const {
  const auto end = checked_add(offset_bytes, length_bytes);
  if (!end || *end > size_bytes())
    return fail(ErrorCode::kFileRead, "{}: {} bytes wanted at offset {}, the file has {}", path(), length_bytes,
                offset_bytes, size_bytes());
  std::string text(length_bytes, '\0');
  HR_TRY_STATUS(read_at(offset_bytes, std::as_writable_bytes(std::span(text))));
  return text;
}

}  // namespace headrace
