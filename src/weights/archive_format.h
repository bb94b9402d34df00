// The formats of an archive. A row here is all there is to add: planning, loading, the manifest's word and the command
// line go by it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "formats/archive_layout.h"
#include "formats/file.h"
#include "weights/manifest.h"

namespace headrace {

struct ArchiveFormat {
  std::string_view name;  // the manifest's word, the file's extension, the value of --weights
  std::string_view summary;
  Result<ArchiveLayout> (*layout)(std::span<const OutTensor> tensors,
                                  const std::map<std::string, std::string>& metadata){nullptr};
  // Whether the file's own header says of every parameter what the manifest does. Errors: kArchive, kFileRead.
  Status (*check)(const InputFile& file, const Manifest& manifest, const ManifestArchive& archive){nullptr};
};

[[nodiscard]] std::span<const ArchiveFormat> archive_formats();
// Null when there is none of that name.
[[nodiscard]] const ArchiveFormat* find_archive_format(std::string_view name);

}  // namespace headrace
