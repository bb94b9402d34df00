#include "weights/directory.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "base/bounded_json.h"
#include "weights/names.h"
#include "weights/output_file.h"

namespace headrace::directory_detail {
namespace {

constexpr size_t kMaxManifestBytes = size_t{64} << 20;
const std::string kLinkTemporary = std::string(kTemporaryPrefix) + "link";

struct CloseDirectory {
  void operator()(DIR* stream) const { ::closedir(stream); }
};

Status list_into(int parent, const std::string& name, std::string_view shown, const std::string& prefix,
                 std::vector<std::string>& out) {
  const int descriptor = ::openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
  const std::unique_ptr<DIR, CloseDirectory> stream(descriptor < 0 ? nullptr : ::fdopendir(descriptor));
  if (!stream) return fail(ErrorCode::kFileOpen, "{}/{}: cannot be listed: {}", shown, prefix, std::strerror(errno));
  // Names beyond this many are foreign anyway: exports are small directories.
  constexpr size_t kMaxNames = 1U << 16;
  while (const dirent* entry = ::readdir(stream.get())) {  // NOLINT(concurrency-mt-unsafe): the stream is ours alone
    const std::string_view leaf_name = static_cast<const char*>(entry->d_name);
    if (leaf_name == "." || leaf_name == "..") continue;
    out.push_back(prefix + std::string(leaf_name));
    if (out.size() > kMaxNames) break;
  }
  return {};
}

bool is_directory(int directory, const std::string& name) {
  struct stat st = {};
  return ::fstatat(directory, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

std::optional<std::string> read_manifest_text(int directory) {
  const Descriptor file(
      ::openat(directory, std::string(kManifestFile).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat st = {};
  if (!file.is_open() || ::fstat(file.get(), &st) != 0 || !S_ISREG(st.st_mode)) return std::nullopt;
  if (st.st_size < 0 || static_cast<size_t>(st.st_size) > kMaxManifestBytes) return std::nullopt;
  std::string text(static_cast<size_t>(st.st_size), '\0');
  size_t have = 0;
  while (have < text.size()) {
    const ssize_t got = ::pread(file.get(), text.data() + have, text.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return std::nullopt;
    have += static_cast<size_t>(got);
  }
  return text;
}

// Other tools have a manifest.json too.
bool is_our_manifest(int directory) {
  const auto text = read_manifest_text(directory);
  if (!text) return false;
  const auto root = parse_bounded_json(*text, ErrorCode::kManifest, kManifestFile);
  return root && root->contains("format") && root->at("format") == kManifestFormat;
}

bool is_ours(int directory, const std::string& name) {
  switch (classify(name).kind) {
    case NameKind::kForeign:
      return false;
    case NameKind::kDirectory:
      return is_directory(directory, name);
    case NameKind::kManifest:
      return is_our_manifest(directory);
    case NameKind::kLock:
    case NameKind::kTemporary:
    case NameKind::kData:
    case NameKind::kLink:
    case NameKind::kCompiled:
      return !is_directory(directory, name);
  }
  return false;
}

// Links are relative to their own folder, so that the export can be moved.
std::string target(const ManifestText& text) { return std::string(leaf(text.file)); }

bool points_to(int directory, const std::string& link, const std::string& wanted) {
  std::array<char, 512> buffer{};
  const ssize_t length = ::readlinkat(directory, link.c_str(), buffer.data(), buffer.size());
  return length >= 0 && std::string_view(buffer.data(), static_cast<size_t>(length)) == wanted;
}

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) ::close(number_);
}

Result<std::vector<std::string>> list(int directory, std::string_view shown) {
  std::vector<std::string> names;
  HR_TRY_STATUS(list_into(directory, ".", shown, "", names));
  for (const char* sub : {"iree", "xla"}) {
    if (!is_directory(directory, sub)) continue;
    HR_TRY_STATUS(list_into(directory, sub, shown, std::string(sub) + "/", names));
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status check_all_ours(int directory, std::string_view shown) {
  HR_TRY(const auto names, list(directory, shown));
  for (const std::string& name : names)
    if (!is_ours(directory, name))
      return fail(ErrorCode::kForeignFiles,
                  "{}: holds '{}', which is not an export's; choose an empty or new directory", shown, name);
  return {};
}

std::optional<Manifest> current_manifest(int directory) {
  const auto text = read_manifest_text(directory);
  if (!text) return std::nullopt;
  auto manifest = from_json(*text);
  return manifest ? std::optional(*std::move(manifest)) : std::nullopt;
}

bool exists(int directory, const std::string& name) {
  struct stat st = {};
  return ::fstatat(directory, name.c_str(), &st, AT_SYMLINK_NOFOLLOW) == 0;
}

void remove_stale_links(int directory, std::string_view shown, const Manifest* manifest) {
  const auto names = list(directory, shown);
  if (!names) return;
  for (const std::string& name : *names) {
    if (classify(name).kind != NameKind::kLink) continue;
    bool stays = false;
    if (manifest != nullptr)
      for (const ManifestText& text : manifest->texts)
        stays = stays || (text.link == name && points_to(directory, name, target(text)));
    if (!stays) ::unlinkat(directory, name.c_str(), 0);
  }
}

int restore_links(int directory, const Manifest& manifest) {
  int failure = 0;
  for (const ManifestText& text : manifest.texts) {
    if (classify(text.link).kind != NameKind::kLink || folder(text.link) != folder(text.file)) continue;
    if (points_to(directory, text.link, target(text))) continue;
    ::unlinkat(directory, kLinkTemporary.c_str(), 0);
    const bool done = ::symlinkat(target(text).c_str(), directory, kLinkTemporary.c_str()) == 0 &&
                      ::renameat(directory, kLinkTemporary.c_str(), directory, text.link.c_str()) == 0;
    if (!done && failure == 0) failure = errno;
  }
  ::unlinkat(directory, kLinkTemporary.c_str(), 0);
  return failure;
}

void sweep(int directory, std::string_view shown, const Manifest* manifest) {
  const auto names = list(directory, shown);
  if (!names) return;
  std::set<std::string, std::less<>> kept;
  if (manifest != nullptr)
    for (auto& file : manifest_files(*manifest)) kept.insert(file);
  for (const std::string& name : *names) {
    const NameInfo known = classify(name);
    const bool is_unnamed = (known.kind == NameKind::kData && !kept.contains(name)) ||
                            (known.kind == NameKind::kCompiled && !kept.contains(known.link));
    if (known.kind == NameKind::kTemporary || (manifest != nullptr && is_unnamed))
      ::unlinkat(directory, name.c_str(), 0);
  }
  if (manifest == nullptr) return;
  for (const char* sub : {"iree", "xla"}) ::unlinkat(directory, sub, AT_REMOVEDIR);  // fails unless empty
}

}  // namespace headrace::directory_detail
