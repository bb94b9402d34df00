// An export's directory while it is being written. The manifest's appearance is the commit: until then the old export
// is whole, afterwards the new one, at whatever moment the process dies (docs/adr/0001-commit.md).
//
//   open -> write_archive into new_archive() -> add_archive; add_text...; commit
//
// Destroyed without a commit, it removes what it made: the directory is as it was.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "weights/manifest.h"
#include "weights/output_file.h"
#include "weights/plan.h"

namespace headrace {

class ExportDirectory {
 public:
  // Creates the directory (with its parents) if need be, takes its lock and removes what dead exporters left.
  // Errors: kForeignFiles (names one file that is not an export's), kBusy (another exporter holds the lock), kFileOpen
  // (not a directory), kFileWrite.
  [[nodiscard]] static Result<ExportDirectory> open(const std::string& path);
  ExportDirectory(ExportDirectory&& other) noexcept;
  ExportDirectory& operator=(ExportDirectory&&) = delete;
  ExportDirectory(const ExportDirectory&) = delete;
  ExportDirectory& operator=(const ExportDirectory&) = delete;
  ~ExportDirectory();

  [[nodiscard]] const std::string& path() const { return path_; }

  // For write_archive. Errors: kFileWrite.
  [[nodiscard]] Result<OutputFile> new_archive();
  // Gives a finished archive its name, made from its content. The same content gives the same name, so two exports
  // share one archive. Errors: kFileWrite.
  [[nodiscard]] Result<ManifestArchive> add_archive(OutputFile file, const ArchivePlan& plan,
                                                    const WrittenArchive& written);
  // Takes the archive that the export in `other` has under that content's name, as a hard link: no byte is written
  // twice. Errors: kArchive (there is none there, or of another size), kFileWrite (another file system, for one).
  [[nodiscard]] Result<ManifestArchive> share_archive(const std::string& other, const ArchivePlan& plan,
                                                      const WrittenArchive& written);
  // Writes a text under its content's name; `plain` is "module.hir", "vocabulary.json", "iree/model.mlir" or
  // "xla/<function>[.<specialisation>].mlir". Errors: kFileWrite, kNoSpace.
  [[nodiscard]] Result<ManifestText> add_text(std::string_view plain, std::string_view text);

  // Makes the manifest and all it names the directory's export, then points the plain names to it and removes files
  // that nothing names any more. After an error the old export is whole; trouble after the commit itself is only a
  // warning. Errors: kManifest (also when it names a file that was not added), kFileWrite, kNoSpace.
  [[nodiscard]] Status commit(const Manifest& manifest, Warnings& warnings);

 private:
  explicit ExportDirectory(std::string path) : path_(std::move(path)) {}

  [[nodiscard]] Status make_and_open();
  [[nodiscard]] Status lock();
  [[nodiscard]] Status make_folder(std::string_view name);
  [[nodiscard]] Status publish(OutputFile file, const std::string& name);
  [[nodiscard]] Status sync_folder(const std::string& relative);
  void abandon();

  std::string path_;
  int directory_ = -1;
  int lock_ = -1;
  std::vector<std::string> made_parents_;       // absolute or as given, outermost first; includes the directory itself
  std::set<std::string, std::less<>> folders_;  // "iree", "xla": used by this export
  std::set<std::string, std::less<>> added_;    // data files of this export
  std::vector<std::string> made_;               // files and folders that were not there before, in order
  bool committed_ = false;
};

}  // namespace headrace
