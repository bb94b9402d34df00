#include "weights/output_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace headrace {

tl::unexpected<Error> write_failure(std::string_view directory, std::string_view name, std::string_view what,
                                    int error_number) {
  const bool full = error_number == ENOSPC || error_number == EDQUOT;
  return fail(full ? ErrorCode::kNoSpace : ErrorCode::kFileWrite, "{}/{}: {}: {}", directory, name, what,
              std::strerror(error_number));
}

Result<OutputFile> OutputFile::create(int directory, std::string shown_directory, std::string name) {
  if (::unlinkat(directory, name.c_str(), 0) != 0 && errno != ENOENT)
    return write_failure(shown_directory, name, "cannot be replaced", errno);
  const int descriptor =
      ::openat(directory, name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);  // less umask
  if (descriptor < 0) return write_failure(shown_directory, name, "cannot be created", errno);
  return OutputFile(directory, std::move(shown_directory), std::move(name), descriptor);
}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : directory_(other.directory_),
      shown_(std::move(other.shown_)),
      name_(std::exchange(other.name_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

OutputFile& OutputFile::operator=(OutputFile&& other) noexcept {
  std::swap(directory_, other.directory_);
  std::swap(shown_, other.shown_);
  std::swap(name_, other.name_);
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
  if (!name_.empty()) ::unlinkat(directory_, name_.c_str(), 0);
}

Status OutputFile::reserve(uint64_t total_bytes) {
  struct statvfs fs = {};
  if (::fstatvfs(descriptor_, &fs) != 0) return write_failure(shown_, name_, "free space is unknown", errno);
  const uint64_t free_bytes = uint64_t{fs.f_bavail} * fs.f_frsize;
  if (free_bytes < total_bytes)
    return fail(ErrorCode::kNoSpace, "{}: {} bytes needed, {} free", shown_, total_bytes, free_bytes);
  if (total_bytes == 0 || ::fallocate(descriptor_, 0, 0, static_cast<off_t>(total_bytes)) == 0) return {};
  // Not every file system can. The length is set all the same: an archive may end in padding that nothing writes.
  const bool cannot = errno == EOPNOTSUPP || errno == ENOSYS || errno == EINTR;
  if (cannot && ::ftruncate(descriptor_, static_cast<off_t>(total_bytes)) == 0) return {};
  return write_failure(shown_, name_, fmt::format("reserving {} bytes", total_bytes), errno);
}

Status OutputFile::stretch(uint64_t total_bytes) {
  if (::ftruncate(descriptor_, static_cast<off_t>(total_bytes)) == 0) return {};
  return write_failure(shown_, name_, fmt::format("setting the length to {} bytes", total_bytes), errno);
}

Status OutputFile::write_at(uint64_t offset_bytes, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = ::pwrite(descriptor_, bytes.data(), bytes.size(), static_cast<off_t>(offset_bytes));
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) return write_failure(shown_, name_, fmt::format("writing at offset {}", offset_bytes), errno);
    offset_bytes += static_cast<uint64_t>(done);
    bytes = bytes.subspan(static_cast<size_t>(done));
  }
  return {};
}

void OutputFile::start_writeback(uint64_t offset_bytes, uint64_t length_bytes) const {
  ::sync_file_range(descriptor_, static_cast<off_t>(offset_bytes), static_cast<off_t>(length_bytes),
                    SYNC_FILE_RANGE_WRITE);
}

Status OutputFile::sync() {
  if (::fsync(descriptor_) != 0) return write_failure(shown_, name_, "syncing", errno);
  return {};
}

Status OutputFile::publish(const std::string& name) {
  if (::renameat(directory_, name_.c_str(), directory_, name.c_str()) != 0)
    return write_failure(shown_, name, "renaming to it", errno);
  name_.clear();
  return {};
}

}  // namespace headrace
