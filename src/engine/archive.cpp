#include "engine/archive.h"

#include <new>
#include <utility>

#include "base/checked.h"
#include "interp/host_bytes.h"

namespace headrace {

namespace {

constexpr std::align_val_t kAlignment{64};

std::shared_ptr<std::byte> aligned_bytes(uint64_t length_bytes) {
  auto* start = static_cast<std::byte*>(::operator new(length_bytes, kAlignment));
  return {start, [](std::byte* bytes) { ::operator delete(bytes, kAlignment); }};
}

// Why a parameter's bytes cannot be where the manifest says; nothing when they can.
std::optional<std::string> misplaced(const ManifestParameter& parameter, uint64_t file_bytes) {
  const auto count = checked_product(parameter.shape);
  const auto wanted = count ? checked_mul(*count, storage_bytes(parameter.dtype)) : std::nullopt;
  const uint64_t offset = *parameter.offset_bytes;
  const uint64_t length = *parameter.length_bytes;
  if (!wanted || *wanted < 0 || static_cast<uint64_t>(*wanted) != length)
    return fmt::format("parameter '{}': {} bytes for {}[{}]", parameter.name, length, name(parameter.dtype),
                       fmt::join(parameter.shape, ", "));
  if (offset > file_bytes || length > file_bytes - offset)
    return fmt::format("parameter '{}': bytes {} to {} of '{}', which has {}", parameter.name, offset, offset + length,
                       *parameter.file, file_bytes);
  return std::nullopt;
}

}  // namespace

Result<std::shared_ptr<const Archive>> Archive::open(const LoadedExport& loaded) {
  std::vector<std::string> faults;
  const std::shared_ptr<Archive> out(new Archive);
  for (const ManifestArchive& archive : loaded.manifest.archives) {
    HR_TRY(InputFile file, InputFile::open(loaded.path(archive.file)));
    if (file.size_bytes() != archive.size_bytes)
      faults.push_back(
          fmt::format("'{}' has {} bytes, the manifest says {}", archive.file, file.size_bytes(), archive.size_bytes));
    out->files_.emplace(archive.file, std::move(file));
  }
  for (const ManifestParameter& parameter : loaded.manifest.parameters) {
    Entry entry{.dtype = parameter.dtype, .shape = parameter.shape};
    if (parameter.file) {
      const auto file = out->files_.find(*parameter.file);
      if (file == out->files_.end()) {
        faults.push_back(fmt::format("parameter '{}': file '{}' is no archive", parameter.name, *parameter.file));
        continue;
      }
      if (auto fault = misplaced(parameter, file->second.size_bytes())) {
        faults.push_back(*std::move(fault));
        continue;
      }
      entry.file = &file->second;
      entry.offset_bytes = *parameter.offset_bytes;
      entry.length_bytes = *parameter.length_bytes;
    }
    out->entries_.emplace(parameter.name, std::move(entry));
  }
  if (!faults.empty()) return fail(merge_faults(ErrorCode::kArchive, std::move(faults)).in(loaded.directory));
  return out;
}

Result<const Archive::Entry*> Archive::find(const std::string& parameter) const {
  const auto found = entries_.find(parameter);
  if (found == entries_.end()) return fail(ErrorCode::kArchive, "parameter '{}' is not in the manifest", parameter);
  if (found->second.file == nullptr)
    return fail(ErrorCode::kArchive, "parameter '{}': the export has no weights (made with --weights none)", parameter);
  return &found->second;
}

Result<Archive::Bytes> Archive::read(const std::string& parameter) const {
  HR_TRY(const Entry* entry, find(parameter));
  try {
    const auto fresh = aligned_bytes(entry->length_bytes);
    const std::span<std::byte> bytes{fresh.get(), entry->length_bytes};
    HR_TRY_STATUS(entry->file->read_at(entry->offset_bytes, bytes));
    return Bytes{.dtype = entry->dtype, .shape = entry->shape, .bytes = bytes, .owner = fresh};
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kMemoryLimit, "parameter '{}': no memory for its {} bytes", parameter, entry->length_bytes);
  }
}

Result<Archive::Bytes> Archive::bytes(const std::string& parameter) const {
  HR_TRY(const Entry* entry, find(parameter));
  const std::scoped_lock guard(lock_);
  if (!entry->kept) {
    HR_TRY(Bytes fresh, read(parameter));
    entry->kept = std::move(fresh);
  }
  return *entry->kept;
}

template <class F>
Result<HostTensor<F>> ArchiveParameters<F>::load(const Parameter& parameter) const {
  HR_TRY(const Archive::Bytes found, archive_->bytes(parameter.name));
  if (found.dtype != parameter.type.dtype || Shape(found.shape.begin(), found.shape.end()) != parameter.type.shape)
    return fail(ErrorCode::kArchive, "parameter '{}': {}[{}] in the archive, {} in the module", parameter.name,
                name(found.dtype), fmt::join(found.shape, ", "), to_string(parameter.type));
  return view_bytes<F>(found.dtype, found.shape, found.bytes, found.owner);
}

template class ArchiveParameters<float>;
template class ArchiveParameters<double>;

}  // namespace headrace
