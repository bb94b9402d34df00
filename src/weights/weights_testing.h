// Test kit: modules without functions, whose parameters come from a checkpoint or from steps made up for a test.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "formats/checkpoint.h"
#include "ir/module.h"
#include "weights/executor.h"
#include "weights/plan.h"

namespace headrace::testing {

// One parameter per tensor, decoded to f32.
[[nodiscard]] Module decoded_module(const Checkpoint& checkpoint);
void add_parameter(Module& module, Recipe recipe);
[[nodiscard]] SourceRange source_of(const Checkpoint& checkpoint, const std::string& tensor);

[[nodiscard]] std::string file_bytes(const std::string& path);
// Names of everything below a directory, relative to it, links marked as "link -> target", sorted.
[[nodiscard]] std::vector<std::string> tree(const std::string& directory);

// Steps that only tests have.
inline constexpr auto kInt8Rows = static_cast<StepKind>(100);  // f32 rows -> i8 rows, f32 scale per row
inline constexpr auto kCounting = static_cast<StepKind>(101);  // nothing -> f32 0, 1, 2, ...
[[nodiscard]] std::vector<Step> steps_with_tests_own();

struct Written {
  std::string bytes;  // of the archive
  ArchivePlan plan;
  WrittenArchive result;
  std::vector<std::string> warnings;
  [[nodiscard]] std::string parameter(const std::string& name) const;  // its bytes
};
// Plans, writes and reads back. The archive is removed again.
[[nodiscard]] Result<Written> write_and_read(const Module& module, const std::vector<SourceFile>& files,
                                             const ExecutorOptions& options = {});

// A whole small export of a checkpoint, whose texts and one configuration value are made of `tag`.
[[nodiscard]] Status export_small(const std::string& directory, const Checkpoint& checkpoint, const std::string& tag,
                                  const ExecutorOptions& options = {});
// The tag of the export in a directory, after load_export and reading every text and parameter against its hash.
[[nodiscard]] Result<std::string> verified_tag(const std::string& directory);

}  // namespace headrace::testing
