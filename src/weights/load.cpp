#include "weights/load.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/checked.h"
#include "formats/file.h"
#include "weights/bounded_json.h"
#include "weights/hash.h"

namespace headrace {
namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxManifestBytes = uint64_t{64} << 20;
constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the safetensors format's own limit

Result<std::string> read_range(const InputFile& file, uint64_t offset, uint64_t length) {
  std::string text(length, '\0');
  HR_TRY_STATUS(file.read_at(offset, std::as_writable_bytes(std::span(text))));
  return text;
}

Result<Manifest> read_manifest(const std::string& path) {
  HR_TRY(const InputFile file, InputFile::open(path));
  if (file.size_bytes() > kMaxManifestBytes)
    return fail(ErrorCode::kManifest, "{}: {} bytes, more than the {} allowed", path, file.size_bytes(),
                kMaxManifestBytes);
  HR_TRY(const std::string text, read_range(file, 0, file.size_bytes()));
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

// What one entry of a safetensors header should be for this parameter.
bool agrees(const Json& entry, const ManifestParameter& p, uint64_t data_begin) {
  const uint64_t begin = *p.offset_bytes - data_begin;  // wraps for an offset inside the header: no entry equals that
  const Json wanted = {{"dtype", std::string(info(p.dtype).safetensors)},
                       {"shape", p.shape},
                       {"data_offsets", {begin, begin + *p.length_bytes}}};
  return entry == wanted;
}

Status check_safetensors(const InputFile& file, const Manifest& manifest, const ManifestArchive& archive) {
  HR_TRY(const std::string word, read_range(file, 0, sizeof(uint64_t)));
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, word.data(), sizeof(header_bytes));
  if (header_bytes > kMaxHeaderBytes || header_bytes > file.size_bytes() - sizeof(uint64_t))
    return fail(ErrorCode::kArchive, "{}: a header of {} bytes does not fit", file.path(), header_bytes);
  HR_TRY(const std::string text, read_range(file, sizeof(uint64_t), header_bytes));
  const JsonLimits limits{.bytes = kMaxHeaderBytes, .tree_bytes = 2 * file.size_bytes() + 10'000'000};
  HR_TRY(const Json header, parse_bounded_json(text, ErrorCode::kArchive, file.path(), limits));
  size_t known = header.contains("__metadata__") ? 1 : 0;
  for (const ManifestParameter& p : manifest.parameters) {
    if (p.file != archive.file) continue;
    ++known;
    const auto entry = header.find(p.name);
    if (entry == header.end()) return fail(ErrorCode::kArchive, "{}: holds no parameter '{}'", file.path(), p.name);
    if (!agrees(*entry, p, sizeof(uint64_t) + header_bytes))
      return fail(ErrorCode::kArchive, "{}: parameter '{}' is {}, not as the manifest says", file.path(), p.name,
                  entry->dump(-1, ' ', true, Json::error_handler_t::replace).substr(0, 200));
  }
  if (header.size() != known)
    return fail(ErrorCode::kArchive, "{}: holds {} entries, the manifest knows {}", file.path(), header.size(), known);
  return {};
}

Status check_archive(const std::string& path, const Manifest& manifest, const ManifestArchive& archive) {
  HR_TRY(const InputFile file, open_sized(path, archive.size_bytes, ErrorCode::kArchive));
  if (archive.format != "safetensors")
    return fail(ErrorCode::kArchive, "{}: archives of format '{}' cannot be read", path, archive.format);
  if (archive.size_bytes < sizeof(uint64_t)) return fail(ErrorCode::kArchive, "{}: too short for a header", path);
  return check_safetensors(file, manifest, archive);
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
  HR_TRY(std::string content, read_range(file, 0, text.size_bytes));
  if (hash_hex(content) != text.xxh3)
    return fail(ErrorCode::kManifest, "{}: its content is not what the manifest says (XXH3-128 {}, not {})",
                file.path(), hash_hex(content), text.xxh3);
  return content;
}

}  // namespace headrace
