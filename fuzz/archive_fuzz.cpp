// The header of an export's archive, read against the manifest. The input is the archive; the manifest is given.
#include "target.h"
#include "weights/load.h"

namespace {

// One parameter of each kind of shape, as weights/safetensors would lay them out after a header of 256 bytes.
constexpr const char* kManifest = R"({
"format": "headrace.manifest", "version": 1, "requires": [], "tool": {"name": "headrace", "version": "0"},
"options": {}, "source": {"container": "gguf", "files": [], "header_xxh3": "00000000000000000000000000000000"},
"model": {"name": "m", "architecture": "llama", "configuration": []}, "tokenizer": null, "module": "module.hir",
"functions": [], "parameters": [
{"name": "a", "dtype": "f32", "shape": [2, 4], "role": "matmul", "file": "w", "offset_bytes": 264, "length_bytes": 32,
 "xxh3": "00000000000000000000000000000000", "recipe": "", "rounding": null},
{"name": "b", "dtype": "i8", "shape": [], "role": "norm", "file": "w", "offset_bytes": 296, "length_bytes": 1,
 "xxh3": "00000000000000000000000000000000", "recipe": "", "rounding": null}],
"archives": [{"file": "w", "format": "safetensors", "scope": "model", "size_bytes": SIZE}],
"texts": [{"file": "module.hir", "link": "l", "size_bytes": 0, "xxh3": "00000000000000000000000000000000"}],
"commands": []})";

}  // namespace

HR_FUZZ_TARGET(archive) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  std::string manifest = kManifest;
  // The parameters need a file of 297 bytes; a shorter input is padded, so that its header is reached all the same.
  std::string archive(fuzz::text_of(input));
  archive.resize(std::max<size_t>(archive.size(), 297));
  manifest.replace(manifest.find("SIZE"), 4, std::to_string(archive.size()));
  fuzz::put_file(kManifestFile, manifest);
  fuzz::put_file("module.hir", "");
  fuzz::put_file("w", archive);
  const fuzz::MemoryBound bound(archive.size());
  const auto loaded = load_export(fuzz::folder());
  if (!loaded) fuzz::expect(loaded.error().code == ErrorCode::kArchive, "the given manifest is refused");
}
