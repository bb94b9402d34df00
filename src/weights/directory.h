// Looking at and tidying an export's directory. Internal to commit.cpp; `directory` is an open descriptor of it.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "weights/manifest.h"

namespace headrace::directory_detail {

// A descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }

 private:
  int number_;
};

// All names in the directory and in iree/ and xla/, relative, sorted. `shown` is its path for messages.
// Errors: kFileOpen.
[[nodiscard]] Result<std::vector<std::string>> list(int directory, std::string_view shown);

// Errors: kForeignFiles, naming the first file that is not an export's; kFileOpen.
[[nodiscard]] Status check_all_ours(int directory, std::string_view shown);

// The manifest that is there, if it can be read by this version.
[[nodiscard]] std::optional<Manifest> current_manifest(int directory);

[[nodiscard]] bool exists(int directory, const std::string& name);

// Removes plain names that point elsewhere than `manifest` says; it may be null: all of them go.
void remove_stale_links(int directory, std::string_view shown, const Manifest* manifest);
// Makes the plain names point to the manifest's files. Returns the errno of the first that failed, or 0.
[[nodiscard]] int restore_links(int directory, const Manifest& manifest);

// Removes temporaries, and with them everything of ours that `manifest` does not name. Null: temporaries only.
void sweep(int directory, std::string_view shown, const Manifest* manifest);

}  // namespace headrace::directory_detail
