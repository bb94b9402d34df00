#include "weights/names.h"

#include <algorithm>
#include <array>
#include <string>

#include "weights/hash.h"
#include "weights/manifest.h"
#include "weights/output_file.h"

namespace headrace {
namespace {

// Plain names of data files. `any` stands for a function's name, which may hold dots for its specialisations.
struct Pattern {
  std::string_view folder;
  std::string_view stem;  // "" = any
  std::string_view extension;
  bool has_link = true;
};
constexpr std::array kPatterns = {
    Pattern{"", "module", ".hir"},
    Pattern{"", "vocabulary", ".json"},
    Pattern{"", "chat", ".json"},
    Pattern{"", "weights", ".safetensors", false},
    Pattern{"", "weights", ".irpa", false},
    Pattern{"iree", "model", ".mlir"},
    Pattern{"xla", "", ".mlir"},
};
constexpr std::string_view kCompiledExtension = ".vmfb";

// "model-0123456789abcdef" -> "model"; nullopt without such an end.
std::optional<std::string_view> without_hash(std::string_view stem) {
  if (stem.size() <= kNameDigits + 1) return std::nullopt;
  const size_t dash = stem.size() - kNameDigits - 1;
  const auto digits = stem.substr(dash + 1);
  if (stem[dash] != '-' || digits.find_first_not_of("0123456789abcdef") != std::string_view::npos) return std::nullopt;
  return stem.substr(0, dash);
}

std::string join(std::string_view folder_name, std::string_view stem, std::string_view extension) {
  return std::string(folder_name) + (folder_name.empty() ? "" : "/") + std::string(stem) + std::string(extension);
}

std::optional<NameInfo> match(const Pattern& pattern, std::string_view path) {
  const auto name = leaf(path);
  if (folder(path) != pattern.folder || !name.ends_with(pattern.extension) || name.starts_with('.'))
    return std::nullopt;
  const auto stem = name.substr(0, name.size() - pattern.extension.size());
  const auto fits = [&](std::string_view s) { return !s.empty() && (pattern.stem.empty() || s == pattern.stem); };
  const auto plain = without_hash(stem);
  if (plain && fits(*plain))
    return NameInfo{NameKind::kData, pattern.has_link ? join(pattern.folder, *plain, pattern.extension) : ""};
  if (fits(stem) && pattern.has_link) return NameInfo{NameKind::kLink};
  return std::nullopt;
}

}  // namespace

std::string_view folder(std::string_view path) {
  const size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}
std::string_view leaf(std::string_view path) {
  const size_t slash = path.find('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

NameInfo classify(std::string_view path) {
  if (leaf(path).find('/') != std::string_view::npos) return {NameKind::kForeign};
  if (path == kManifestFile) return {NameKind::kManifest};
  if (path == kLockFile) return {NameKind::kLock};
  if (path.starts_with(kTemporaryPrefix)) return {NameKind::kTemporary};
  if (path == "iree" || path == "xla") return {NameKind::kDirectory};
  for (const Pattern& pattern : kPatterns)
    if (auto found = match(pattern, path)) return *std::move(found);
  if (folder(path) == "iree" && path.ends_with(kCompiledExtension)) {
    const std::string source = std::string(path.substr(0, path.size() - kCompiledExtension.size())) + ".mlir";
    const NameKind kind = classify(source).kind;
    if (kind == NameKind::kData || kind == NameKind::kLink) return {NameKind::kCompiled, source};
  }
  return {NameKind::kForeign};
}

std::string content_name(std::string_view plain, std::string_view hash) {
  const size_t slash = plain.rfind('/');
  const size_t from = slash == std::string_view::npos ? 0 : slash + 1;
  const size_t dot = plain.rfind('.');
  const size_t end = dot == std::string_view::npos || dot < from ? plain.size() : dot;
  return std::string(plain.substr(0, end)) + "-" + std::string(hash.substr(0, kNameDigits)) +
         std::string(plain.substr(end));
}

}  // namespace headrace
