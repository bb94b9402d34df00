// The header of an export's archive, read against the manifest. The input is the archive, of the format its first bytes
// name; the manifest is given.
#include "target.h"
#include "weights/load.h"

namespace {

constexpr size_t kLeastBytes = 297;  // the two parameters end here
const std::string kHash(32, '0');

// Two parameters, as a safetensors archive with a header of 256 bytes holds them.
headrace::Manifest manifest_of(std::string format, size_t archive_bytes) {
  using headrace::DType;
  headrace::Manifest m;
  m.source.header_xxh3 = kHash;
  m.module_file = "module.hir";
  m.texts = {{.file = "module.hir", .link = "link.hir", .size_bytes = 0, .xxh3 = kHash}};
  m.archives = {{.file = "w", .format = std::move(format), .scope = "model", .size_bytes = archive_bytes}};
  m.parameters.resize(2);
  m.parameters[0] = {.name = "a", .dtype = DType::kF32, .shape = {2, 4}, .role = headrace::Role::kMatmul};
  m.parameters[0].offset_bytes = 264;
  m.parameters[0].length_bytes = 32;
  m.parameters[1] = {.name = "b", .dtype = DType::kI8, .shape = {}, .role = headrace::Role::kNorm};
  m.parameters[1].offset_bytes = 296;
  m.parameters[1].length_bytes = 1;
  for (auto& parameter : m.parameters) {
    parameter.file = "w";
    parameter.xxh3 = kHash;
  }
  return m;
}

}  // namespace

HR_FUZZ_TARGET(archive) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  std::string archive(fuzz::text_of(input));
  // A shorter input is padded, so that its header is reached all the same.
  archive.resize(std::max(archive.size(), kLeastBytes));
  const auto manifest = to_json(manifest_of(archive.starts_with("IRPA") ? "irpa" : "safetensors", archive.size()));
  fuzz::expect(manifest.has_value(), "the given manifest cannot be written");
  fuzz::put_file(kManifestFile, *manifest);
  fuzz::put_file("module.hir", "");
  fuzz::put_file("w", archive);
  const fuzz::MemoryBound bound(archive.size());
  const auto loaded = load_export(fuzz::folder());
  if (!loaded) fuzz::expect(loaded.error().code == ErrorCode::kArchive, "the given manifest is refused");
}
