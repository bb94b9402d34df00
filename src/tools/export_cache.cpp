#include "tools/export_cache.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/version.h"
#include "weights/hash.h"

namespace headrace::tools {
namespace {

namespace fs = std::filesystem;

std::string cache_root() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && *xdg != '\0') return xdg;
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache" : std::string();
}

// Sizes and times of the files that a checkpoint may consist of: a directory's, or a file's and its neighbours' that
// begin as it does (the parts of a split set).
std::string state_of(const fs::path& path) {
  std::error_code error;
  const bool whole = fs::is_directory(path, error);
  const std::string name = path.filename().string();
  const std::string start = name.substr(0, name.rfind("-0"));
  std::vector<std::string> lines;
  for (auto entry = fs::directory_iterator(whole ? path : path.parent_path(), error);
       !error && entry != fs::directory_iterator(); entry.increment(error)) {
    const std::string file = entry->path().filename().string();
    std::error_code ignored;
    if ((!whole && file != name && !file.starts_with(start + "-0")) || !entry->is_regular_file(ignored)) continue;
    lines.push_back(fmt::format("{} {} {}", file, entry->file_size(ignored),
                                entry->last_write_time(ignored).time_since_epoch().count()));
  }
  std::ranges::sort(lines);
  return fmt::format("{}", fmt::join(lines, "\n"));
}

}  // namespace

bool is_export(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::path(path) / "manifest.json", error);
}

Result<std::string> cached_export_directory(const std::string& model, std::string_view options) {
  std::error_code error;
  fs::path path = fs::canonical(model, error);
  if (error) return fail(ErrorCode::kFileOpen, "{}: {}", model, error.message());
  const std::string root = cache_root();
  if (root.empty()) return fail(ErrorCode::kFileOpen, "no place to export to: neither XDG_CACHE_HOME nor HOME is set");
  const std::string key = hash_hex(fmt::format("{} {}\n{}\n{}", kVersion, options, path.string(), state_of(path)));
  return (fs::path(root) / "headrace" / "exports" / (path.stem().string() + "-" + key.substr(0, kNameDigits))).string();
}

}  // namespace headrace::tools
