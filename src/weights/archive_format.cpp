#include "weights/archive_format.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include "base/bounded_json.h"
#include "formats/irpa.h"
#include "formats/safetensors_writer.h"

namespace headrace {

namespace {

using Json = nlohmann::json;

constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // the safetensors format's own limit

// What one entry of a safetensors header should be for this parameter.
bool agrees(const Json& entry, const ManifestParameter& p, uint64_t data_begin) {
  const uint64_t begin = *p.offset_bytes - data_begin;  // wraps for an offset inside the header: no entry equals that
  const Json wanted = {{"dtype", std::string(info(p.dtype).safetensors)},
                       {"shape", p.shape},
                       {"data_offsets", {begin, begin + *p.length_bytes}}};
  return entry == wanted;
}

Status check_safetensors(const InputFile& file, const Manifest& manifest, const ManifestArchive& archive) {
  if (file.size_bytes() < sizeof(uint64_t)) return fail(ErrorCode::kArchive, "{}: too short for a header", file.path());
  HR_TRY(const std::string word, file.read_text(0, sizeof(uint64_t)));
  uint64_t header_bytes = 0;
  std::memcpy(&header_bytes, word.data(), sizeof(header_bytes));
  if (header_bytes > kMaxHeaderBytes || header_bytes > file.size_bytes() - sizeof(uint64_t))
    return fail(ErrorCode::kArchive, "{}: a header of {} bytes does not fit", file.path(), header_bytes);
  HR_TRY(const std::string text, file.read_text(sizeof(uint64_t), header_bytes));
  HR_TRY(const Json header,
         parse_bounded_json(text, ErrorCode::kArchive, file.path(),
                            {.bytes = kMaxHeaderBytes, .tree_bytes = 2 * file.size_bytes() + 10'000'000}));
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

// Names and places; dtypes and shapes are not in the file.
Status check_irpa(const InputFile& file, const Manifest& manifest, const ManifestArchive& archive) {
  const auto refuse = [&](Error error) { return fail(ErrorCode::kArchive, "{}: {}", file.path(), error.message); };
  HR_TRY(const std::string prefix, file.read_text(0, std::min(file.size_bytes(), kIrpaPrefixBytes)));
  const auto header_bytes = irpa_header_bytes(prefix, file.size_bytes());
  if (!header_bytes) return refuse(header_bytes.error());
  HR_TRY(const std::string header, file.read_text(0, *header_bytes));
  const auto entries = read_irpa(header, file.size_bytes());
  if (!entries) return refuse(entries.error());
  std::unordered_map<std::string_view, const IrpaEntry*> by_name;
  for (const IrpaEntry& entry : *entries) by_name.emplace(entry.name, &entry);
  size_t known = 0;
  for (const ManifestParameter& p : manifest.parameters) {
    if (p.file != archive.file) continue;
    ++known;
    const auto entry = by_name.find(p.name);
    if (entry == by_name.end()) return fail(ErrorCode::kArchive, "{}: holds no parameter '{}'", file.path(), p.name);
    if (entry->second->offset_bytes != *p.offset_bytes || entry->second->length_bytes != *p.length_bytes)
      return fail(ErrorCode::kArchive, "{}: parameter '{}' is {} bytes at {}, the manifest says {} at {}", file.path(),
                  p.name, entry->second->length_bytes, entry->second->offset_bytes, *p.length_bytes, *p.offset_bytes);
  }
  if (entries->size() != known)
    return fail(ErrorCode::kArchive, "{}: holds {} entries, the manifest knows {}", file.path(), entries->size(),
                known);
  return {};
}

constexpr ArchiveFormat kFormats[] = {
    {.name = "safetensors",
     .summary = "Hugging Face's, which Python and IREE read",
     .layout = layout_safetensors,
     .check = check_safetensors},
    {.name = "irpa",
     .summary = "IREE's own",
     .layout = [](std::span<const OutTensor> tensors,
                  const std::map<std::string, std::string>&) { return layout_irpa(tensors); },
     .check = check_irpa},
};

}  // namespace

std::span<const ArchiveFormat> archive_formats() { return kFormats; }

const ArchiveFormat* find_archive_format(std::string_view name) {
  const auto* const row = std::ranges::find(kFormats, name, &ArchiveFormat::name);
  return row == std::end(kFormats) ? nullptr : row;
}

}  // namespace headrace
