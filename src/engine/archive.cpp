#include "engine/archive.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/checked.h"
#include "interp/host_bytes.h"

namespace headrace {

namespace {

struct Mapping {
  std::shared_ptr<const std::byte> start;
  uint64_t size_bytes{};
};

std::string reason() { return std::generic_category().message(errno); }

Result<Mapping> map_file(const std::string& path) {
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return fail(ErrorCode::kFileOpen, "{}: {}", path, reason());
  const std::unique_ptr<const int, void (*)(const int*)> closer(&descriptor, [](const int* d) { ::close(*d); });
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) return fail(ErrorCode::kFileRead, "{}: {}", path, reason());
  if (!S_ISREG(status.st_mode)) return fail(ErrorCode::kFileOpen, "{}: not a regular file", path);
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return Mapping{};
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (start == MAP_FAILED) return fail(ErrorCode::kFileRead, "{}: mapping {} bytes: {}", path, size, reason());
  const auto unmap = [start, size](const std::byte*) { ::munmap(start, size); };
  return Mapping{{static_cast<const std::byte*>(start), unmap}, size};
}

// Where a parameter's bytes are, or why they cannot be there.
Result<std::span<const std::byte>> locate(const ManifestParameter& parameter, const Mapping& mapping) {
  const auto count = checked_product(parameter.shape);
  const auto wanted = count ? checked_mul(*count, storage_bytes(parameter.dtype)) : std::nullopt;
  const uint64_t offset = *parameter.offset_bytes;
  const uint64_t length = *parameter.length_bytes;
  if (!wanted || *wanted < 0 || static_cast<uint64_t>(*wanted) != length)
    return fail(ErrorCode::kArchive, "parameter '{}': {} bytes for {}[{}]", parameter.name, length,
                name(parameter.dtype), fmt::join(parameter.shape, ", "));
  if (offset > mapping.size_bytes || length > mapping.size_bytes - offset)
    return fail(ErrorCode::kArchive, "parameter '{}': bytes {} to {} of '{}', which has {}", parameter.name, offset,
                offset + length, *parameter.file, mapping.size_bytes);
  return std::span(mapping.start.get() + offset, length);
}

}  // namespace

Result<std::shared_ptr<const Archive>> Archive::open(const LoadedExport& loaded) {
  std::vector<std::string> faults;
  std::unordered_map<std::string, Mapping> mappings;
  for (const ManifestArchive& archive : loaded.manifest.archives) {
    HR_TRY(Mapping mapping, map_file(loaded.path(archive.file)));
    if (mapping.size_bytes != archive.size_bytes)
      faults.push_back(
          fmt::format("'{}' has {} bytes, the manifest says {}", archive.file, mapping.size_bytes, archive.size_bytes));
    mappings.emplace(archive.file, std::move(mapping));
  }

  const std::shared_ptr<Archive> out(new Archive);
  for (const ManifestParameter& parameter : loaded.manifest.parameters) {
    Entry entry{.dtype = parameter.dtype, .shape = parameter.shape, .bytes = {}, .owner = nullptr};
    if (parameter.file) {
      const auto mapping = mappings.find(*parameter.file);
      if (mapping == mappings.end()) {
        faults.push_back(fmt::format("parameter '{}': file '{}' is no archive", parameter.name, *parameter.file));
        continue;
      }
      auto bytes = locate(parameter, mapping->second);
      if (!bytes) {
        faults.push_back(std::move(bytes).error().message);
        continue;
      }
      entry.bytes = *bytes;
      entry.owner = mapping->second.start;
    }
    out->entries_.emplace(parameter.name, std::move(entry));
  }
  if (!faults.empty()) return fail(merge_faults(ErrorCode::kArchive, std::move(faults)).in(loaded.directory));
  return out;
}

Result<const Archive::Entry*> Archive::find(const std::string& parameter) const {
  const auto found = entries_.find(parameter);
  if (found == entries_.end()) return fail(ErrorCode::kArchive, "parameter '{}' is not in the manifest", parameter);
  if (found->second.owner == nullptr)
    return fail(ErrorCode::kArchive, "parameter '{}': the export has no weights (made with --weights none)", parameter);
  return &found->second;
}

template <class F>
Result<HostTensor<F>> ArchiveParameters<F>::load(const Parameter& parameter) const {
  HR_TRY(const Archive::Entry* entry, archive_->find(parameter.name));
  if (entry->dtype != parameter.type.dtype || Shape(entry->shape.begin(), entry->shape.end()) != parameter.type.shape)
    return fail(ErrorCode::kArchive, "parameter '{}': {}[{}] in the archive, {} in the module", parameter.name,
                name(entry->dtype), fmt::join(entry->shape, ", "), to_string(parameter.type));
  return view_bytes<F>(entry->dtype, entry->shape, entry->bytes, entry->owner);
}

template class ArchiveParameters<float>;
template class ArchiveParameters<double>;

}  // namespace headrace
