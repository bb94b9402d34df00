#include "target.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace headrace::fuzz {

std::vector<Target>& targets() {
  static std::vector<Target> all;
  return all;
}

void broken(std::string_view what) {
  std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(what.size()), what.data());
  std::abort();
}

namespace {

// In memory where the system has such a place: a target writes its input once for each run.
class Folder {
 public:
  Folder() {
    const std::filesystem::path memory = "/dev/shm";
    std::error_code ignored;
    const auto base = std::filesystem::is_directory(memory, ignored) ? memory : std::filesystem::temp_directory_path();
    path_ = (base / "headrace-fuzz-XXXXXX").string();
    expect(::mkdtemp(path_.data()) != nullptr, "no place for temporary files");
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace

std::string folder() {
  static const Folder one;
  return one.path();
}

std::string put_file(std::string_view name, std::string_view bytes) {
  const std::string path = folder() + "/" + std::string(name);
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  expect(file >= 0, "a temporary file cannot be opened");
  while (!bytes.empty()) {
    const ssize_t wrote = ::write(file, bytes.data(), bytes.size());
    expect(wrote > 0, "a temporary file cannot be written");
    bytes.remove_prefix(static_cast<size_t>(wrote));
  }
  ::close(file);
  return path;
}

}  // namespace headrace::fuzz
