#include "weights/commit.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "weights/directory.h"
#include "weights/hash.h"
#include "weights/names.h"

namespace headrace {
namespace {

using directory_detail::Descriptor;

std::string temporary(std::string_view what) { return std::string(kTemporaryPrefix) + std::string(what); }

}  // namespace

Result<ExportDirectory> ExportDirectory::open(const std::string& path) {
  ExportDirectory out(path);
  HR_TRY_STATUS(out.make_and_open());
  // Before the lock, so that not even a lock file is left among foreign files.
  HR_TRY_STATUS(directory_detail::check_all_ours(out.directory_, path));
  HR_TRY_STATUS(out.lock());
  directory_detail::sweep(out.directory_, path, nullptr);
  if (const auto manifest = directory_detail::current_manifest(out.directory_))
    static_cast<void>(directory_detail::restore_links(out.directory_, *manifest));
  return out;
}

ExportDirectory::ExportDirectory(ExportDirectory&& other) noexcept
    : path_(std::move(other.path_)),
      directory_(std::exchange(other.directory_, -1)),
      lock_(std::exchange(other.lock_, -1)),
      made_parents_(std::exchange(other.made_parents_, {})),
      folders_(std::move(other.folders_)),
      added_(std::move(other.added_)),
      made_(std::exchange(other.made_, {})),
      committed_(other.committed_) {}

ExportDirectory::~ExportDirectory() {
  if (directory_ >= 0 && !committed_) abandon();
  if (lock_ >= 0) {
    // Safe while the lock is held: whoever opened this file before finds it gone and opens another (lock()).
    ::unlinkat(directory_, std::string(kLockFile).c_str(), 0);
    ::close(lock_);
  }
  if (directory_ >= 0) ::close(directory_);
  if (!committed_)
    std::for_each(made_parents_.rbegin(), made_parents_.rend(), [](const auto& made) { ::rmdir(made.c_str()); });
}

void ExportDirectory::abandon() {
  std::for_each(made_.rbegin(), made_.rend(), [this](const std::string& made) {
    ::unlinkat(directory_, made.c_str(), classify(made).kind == NameKind::kDirectory ? AT_REMOVEDIR : 0);
  });
  if (lock_ < 0) return;
  if (const auto manifest = directory_detail::current_manifest(directory_))
    static_cast<void>(directory_detail::restore_links(directory_, *manifest));
}

Status ExportDirectory::make_and_open() {
  if (path_.empty()) return fail(ErrorCode::kFileOpen, "the output directory's name is empty");
  std::filesystem::path grown;
  for (const auto& part : std::filesystem::path(path_)) {
    grown /= part;
    if (part.empty() || part == "/") continue;
    if (::mkdir(grown.c_str(), 0777) == 0)  // less umask
      made_parents_.push_back(grown.string());
    else if (errno != EEXIST)
      return fail(ErrorCode::kFileWrite, "{}: cannot be created: {}", grown.string(), std::strerror(errno));
  }
  directory_ = ::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (directory_ >= 0) return {};
  if (errno == ENOTDIR) return fail(ErrorCode::kFileOpen, "{}: not a directory", path_);
  return fail(ErrorCode::kFileOpen, "{}: cannot be opened: {}", path_, std::strerror(errno));
}

Status ExportDirectory::lock() {
  const std::string name(kLockFile);
  for (int attempt = 0; attempt < 100; ++attempt) {
    const int file = ::openat(directory_, name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (file < 0) return write_failure(path_, name, "cannot be created", errno);
    if (::flock(file, LOCK_EX | LOCK_NB) != 0) {
      const int reason = errno;
      ::close(file);
      if (reason == EWOULDBLOCK) return fail(ErrorCode::kBusy, "{}: another process is writing this export", path_);
      return write_failure(path_, name, "cannot be locked", reason);
    }
    // The last holder removes the file: a lock on a file that is no longer there guards nothing.
    struct stat held = {};
    struct stat named = {};
    const bool is_same = ::fstat(file, &held) == 0 &&
                         ::fstatat(directory_, name.c_str(), &named, AT_SYMLINK_NOFOLLOW) == 0 &&
                         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
    if (is_same) {
      lock_ = file;
      return {};
    }
    ::close(file);
  }
  return fail(ErrorCode::kBusy, "{}: other processes are writing this export", path_);
}

Status ExportDirectory::make_folder(std::string_view name) {
  if (name.empty() || !folders_.insert(std::string(name)).second) return {};
  if (::mkdirat(directory_, std::string(name).c_str(), 0777) == 0) {
    made_.emplace_back(name);
  } else if (errno != EEXIST) {
    return write_failure(path_, name, "cannot be created", errno);
  }
  return {};
}

// Gives a synced temporary its name by content.
Status ExportDirectory::publish(OutputFile file, const std::string& name) {
  const bool was_there = directory_detail::exists(directory_, name);
  HR_TRY_STATUS(file.publish(name));  // what was there has the same content
  added_.insert(name);
  if (!was_there) made_.push_back(name);
  return {};
}

Result<OutputFile> ExportDirectory::new_archive() {
  return OutputFile::create(directory_, path_, temporary("weights"));
}

Result<ManifestArchive> ExportDirectory::add_archive(OutputFile file, const ArchivePlan& plan,
                                                     const WrittenArchive& written) {
  const std::string name = content_name("weights." + plan.format, written.content);
  HR_TRY_STATUS(publish(std::move(file), name));
  return ManifestArchive{.file = name, .format = plan.format, .size_bytes = plan.total_bytes};
}

Result<ManifestArchive> ExportDirectory::share_archive(const std::string& other, const ArchivePlan& plan,
                                                       const WrittenArchive& written) {
  const std::string name = content_name("weights." + plan.format, written.content);
  const std::string source = other + "/" + name;
  struct stat found = {};
  if (::stat(source.c_str(), &found) != 0)
    return fail(ErrorCode::kArchive, "{}: {}; the export there has other weights", source, std::strerror(errno));
  if (static_cast<uint64_t>(found.st_size) != plan.total_bytes)
    return fail(ErrorCode::kArchive, "{}: {} bytes, expected {}", source, found.st_size, plan.total_bytes);
  // Through a temporary name: a file of that name here gives way to the link in one step.
  const std::string link = temporary("link");
  ::unlinkat(directory_, link.c_str(), 0);
  const bool was_there = directory_detail::exists(directory_, name);
  if (::linkat(AT_FDCWD, source.c_str(), directory_, link.c_str(), AT_SYMLINK_FOLLOW) != 0)
    return write_failure(path_, name, fmt::format("cannot be linked to {}", source), errno);
  const bool renamed = ::renameat(directory_, link.c_str(), directory_, name.c_str()) == 0;
  const int reason = errno;
  ::unlinkat(directory_, link.c_str(), 0);  // renaming one link of a file over another leaves it
  if (!renamed) return write_failure(path_, name, "cannot be renamed", reason);
  added_.insert(name);
  if (!was_there) made_.push_back(name);
  return ManifestArchive{.file = name, .format = plan.format, .size_bytes = plan.total_bytes};
}

Result<ManifestText> ExportDirectory::add_text(std::string_view plain, std::string_view text) {
  const std::string hash = hash_hex(text);
  const std::string name = content_name(plain, hash);
  const NameInfo known = classify(name);
  if (known.kind != NameKind::kData || known.link != plain)
    return fail(ErrorCode::kManifest, "'{}' is not a name of an export's file", plain);
  HR_TRY_STATUS(make_folder(folder(name)));
  HR_TRY(OutputFile file, OutputFile::create(directory_, path_, temporary("text")));
  HR_TRY_STATUS(file.write_at(0, std::as_bytes(std::span(text))));
  HR_TRY_STATUS(file.sync());
  HR_TRY_STATUS(publish(std::move(file), name));
  return ManifestText{.file = name, .link = std::string(plain), .size_bytes = text.size(), .xxh3 = hash};
}

Status ExportDirectory::sync_folder(const std::string& relative) {
  const Descriptor folder_descriptor(::openat(directory_, relative.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder_descriptor.is_open() || ::fsync(folder_descriptor.get()) != 0)
    return write_failure(path_, relative, "syncing the directory", errno);
  return {};
}

Status ExportDirectory::commit(const Manifest& manifest, Warnings& warnings) {
  HR_CHECK(!committed_);
  HR_TRY(const std::string text, to_json(manifest));
  for (const auto& file : manifest_files(manifest))
    if (!added_.contains(file))
      return fail(ErrorCode::kManifest, "the manifest names '{}', which was not written", file);
  HR_TRY(OutputFile file, OutputFile::create(directory_, path_, temporary("manifest")));
  HR_TRY_STATUS(file.write_at(0, std::as_bytes(std::span(text))));
  HR_TRY_STATUS(file.sync());
  // For a moment changed plain names are absent rather than wrong: a command pasted after a crash fails, and never
  // mixes.
  directory_detail::remove_stale_links(directory_, path_, &manifest);
  for (const std::string& sub : folders_) {
    HR_TRY_STATUS(sync_folder(sub));
  }
  HR_TRY_STATUS(sync_folder("."));
  HR_TRY_STATUS(file.publish(std::string(kManifestFile)));
  committed_ = true;

  if (auto status = sync_folder("."); !status) warnings.add("{}", status.error().message);
  for (const std::string& made : made_parents_) {
    const auto parent = std::filesystem::path(made).parent_path();
    const Descriptor above(::open(parent.empty() ? "." : parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (above.is_open()) ::fsync(above.get());
  }
  if (const int reason = directory_detail::restore_links(directory_, manifest); reason != 0)
    warnings.add("{}: plain names such as module.hir could not be made: {}; the manifest has the files' real names",
                 path_, std::strerror(reason));
  directory_detail::sweep(directory_, path_, &manifest);
  return {};
}

}  // namespace headrace
