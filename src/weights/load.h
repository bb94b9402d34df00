// Opening an export for use. Nothing is taken from file names: the manifest says what belongs to the export.
#pragma once

#include <string>

#include "base/result.h"
#include "weights/manifest.h"

namespace headrace {

struct LoadedExport {
  std::string directory;
  Manifest manifest;
  [[nodiscard]] std::string path(const std::string& file) const { return directory + "/" + file; }
};

// Reads the manifest and checks that every file it names is there with its size, and that each archive's own header
// says the same dtype, shape and place for every parameter. Bytes of texts and weights are not read: hashes are
// `verify`'s work. Errors: kFileOpen (no directory, or no manifest in it), kManifest, kArchive.
[[nodiscard]] Result<LoadedExport> load_export(const std::string& directory);

// The whole text file of an export. Errors: kFileOpen, kFileRead, kManifest (the content's hash is not the manifest's).
[[nodiscard]] Result<std::string> read_text(const LoadedExport& loaded, const ManifestText& text);

}  // namespace headrace
