#include "tools/export_cache.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/version.h"
#include "weights/hash.h"

namespace headrace::tools {
namespace {

std::string cache_root() {
  const char* xdg = std::getenv("XDG_CACHE_HOME");
  if (xdg != nullptr && *xdg != '\0') return xdg;
  const char* home = std::getenv("HOME");
  return home != nullptr && *home != '\0' ? std::string(home) + "/.cache" : std::string();
}

}  // namespace

bool is_export(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(std::filesystem::path(path) / "manifest.json", error);
}

Result<std::string> cached_export_directory(const std::string& model, std::string_view options) {
  namespace fs = std::filesystem;
  std::error_code error;
  fs::path path = fs::canonical(model, error);
  if (error) return fail(ErrorCode::kFileOpen, "{}: {}", model, error.message());
  const std::string root = cache_root();
  if (root.empty()) return fail(ErrorCode::kFileOpen, "no place to export to: neither XDG_CACHE_HOME nor HOME is set");
  // A directory changes with the files in it, as far as they are replaced.
  const auto time = fs::last_write_time(path, error).time_since_epoch().count();
  const uint64_t size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
  const std::string key = hash_hex(fmt::format("{} {}\n{} {} {}", kVersion, options, path.string(), size, time));
  return (fs::path(root) / "headrace" / "exports" / (path.stem().string() + "-" + key.substr(0, kNameDigits))).string();
}

}  // namespace headrace::tools
