// Exports that `generate` makes of checkpoints by itself, below $XDG_CACHE_HOME or ~/.cache.
#pragma once

#include <string>

#include "exporter/export.h"

namespace headrace::tools {

// Whether a path is an export's directory, by its manifest.
[[nodiscard]] bool is_export(const std::string& path);

// The directory for an export of this checkpoint with these options: equal for an equal path, size and time of
// modification, and an equal program. Errors: kFileOpen (no such file; neither XDG_CACHE_HOME nor HOME is set).
[[nodiscard]] Result<std::string> cached_export_directory(const std::string& model, std::string_view options);

}  // namespace headrace::tools
