#include "weights/load.h"

#include "formats/file.h"
#include "weights/archive_format.h"
#include "weights/hash.h"

namespace headrace {
namespace {

constexpr uint64_t kMaxManifestBytes = uint64_t{64} << 20;

Result<Manifest> read_manifest(const std::string& path) {
  const auto file = InputFile::open(path);
  if (!file) return fail(Error(file.error()).in("not an export's directory"));
  if (file->size_bytes() > kMaxManifestBytes)
    return fail(ErrorCode::kManifest, "{}: {} bytes, more than the {} allowed", path, file->size_bytes(),
                kMaxManifestBytes);
  HR_TRY(const std::string text, file->read_text(0, file->size_bytes()));
  auto manifest = from_json(text);
  if (!manifest) return fail(std::move(manifest).error().in(path));
  return manifest;
}

// Opens a file the manifest names, which must have the size it says.
Result<InputFile> open_sized(const std::string& path, uint64_t size_bytes, ErrorCode code) {
  auto file = InputFile::open(path);
  if (!file) return fail(code, "{}", file.error().message);
  if (file->size_bytes() != size_bytes)
    return fail(code, "{}: {} bytes, the manifest says {}", path, file->size_bytes(), size_bytes);
  return file;
}

Status check_archive(const std::string& path, const Manifest& manifest, const ManifestArchive& archive) {
  HR_TRY(const InputFile file, open_sized(path, archive.size_bytes, ErrorCode::kArchive));
  const ArchiveFormat* format = find_archive_format(archive.format);
  if (format == nullptr)
    return fail(ErrorCode::kArchive, "{}: archives of format '{}' cannot be read", path, archive.format);
  return format->check(file, manifest, archive);
}

}  // namespace

Result<LoadedExport> load_export(const std::string& directory) {
  LoadedExport loaded{.directory = directory, .manifest = {}};
  HR_TRY(loaded.manifest, read_manifest(loaded.path(std::string(kManifestFile))));
  for (const ManifestText& text : loaded.manifest.texts) {
    HR_TRY(const InputFile file, open_sized(loaded.path(text.file), text.size_bytes, ErrorCode::kManifest));
  }
  for (const ManifestArchive& archive : loaded.manifest.archives) {
    HR_TRY_STATUS(check_archive(loaded.path(archive.file), loaded.manifest, archive));
  }
  return loaded;
}

Result<std::string> read_text(const LoadedExport& loaded, const ManifestText& text) {
  HR_TRY(const InputFile file, open_sized(loaded.path(text.file), text.size_bytes, ErrorCode::kManifest));
  HR_TRY(std::string content, file.read_text(0, text.size_bytes));
  if (hash_hex(content) != text.xxh3)
    return fail(ErrorCode::kManifest, "{}: its content is not what the manifest says (XXH3-128 {}, not {})",
                file.path(), hash_hex(content), text.xxh3);
  return content;
}

}  // namespace headrace
