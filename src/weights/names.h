// The names of files in an export's directory, relative to it. Everything else there is foreign.
//
//   manifest.json                        the commit
//   <stem>-<16 hex digits>.<extension>   data files, named by content: never changed once they are there
//   <stem>.<extension>                   links to them for people
//   iree/model[-<16 hex>].vmfb           what a pasted iree-compile line leaves
//   .headrace-lock, .headrace-tmp-*      of a running or dead exporter
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headrace {

inline constexpr std::string_view kLockFile = ".headrace-lock";

enum class NameKind {
  kForeign,
  kManifest,
  kLock,
  kTemporary,
  kData,       // named by content
  kLink,       // a plain name
  kCompiled,   // made from a data file by a user's command
  kDirectory,  // iree, xla
};

struct NameInfo {
  NameKind kind{};
  std::string link = {};  // kData: its plain name; kCompiled: the data file it was made from
};
[[nodiscard]] NameInfo classify(std::string_view path);

// "iree/model.mlir", "0123456789abcdef..." -> "iree/model-0123456789abcdef.mlir"
[[nodiscard]] std::string content_name(std::string_view plain, std::string_view hash);

// "iree/model.mlir" -> "iree"; "" for a file of the directory itself.
[[nodiscard]] std::string_view folder(std::string_view path);
[[nodiscard]] std::string_view leaf(std::string_view path);

}  // namespace headrace
