// Where every parameter's bytes will lie in the archive, decided before any is read: writes are positional, so they can
// come in any order and from any number of threads.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ir/module.h"
#include "quant/rounding.h"
#include "weights/manifest.h"

namespace headrace {

struct PlannedOutput {
  std::string parameter;
  uint32_t recipe{};  // index into Module::recipes
  uint32_t output{};  // index into that recipe's outputs
  DType dtype{};
  std::vector<int64_t> shape = {};
  uint64_t offset_bytes{};  // from the start of the file
  uint64_t length_bytes{};
  friend bool operator==(const PlannedOutput&, const PlannedOutput&) = default;
};

// `outputs` is ordered by where the first source lies, so that reading and writing both go forward; outputs of one
// recipe are neighbours. A recipe that no parameter uses is left out.
struct ArchivePlan {
  std::string format;        // of archive_formats()
  std::string header_bytes;  // at offset 0
  uint64_t total_bytes{};
  std::vector<PlannedOutput> outputs = {};
};

struct PlanOptions {
  std::string format = "safetensors";  // a name of archive_formats()
  // Starts another archive before one would hold more bytes of data; a recipe's outputs stay together, so one that is
  // larger has an archive of its own. 0: no bound.
  uint64_t max_shard_bytes = 0;
  std::map<std::string, std::string> metadata = {};  // for the file's header, where the format has a place
};

// One plan for each archive: at least one. Errors: kSafetensors, kIrpa (names, sizes), kPass (a parameter does not
// agree with its recipe's output), kOptions (no such format).
[[nodiscard]] Result<std::vector<ArchivePlan>> plan_archives(const Module& module, const PlanOptions& options);

// What writing a plan yields. Nothing of it depends on the number of threads.
struct WrittenArchive {
  std::vector<std::string> xxh3 = {};   // of each planned output, in the plan's order
  std::vector<RoundingLoss> loss = {};  // likewise; zero where no step rounds
  std::string content;                  // XXH3-128 of the header and these hashes: names the file
};

// An archive that was written, and the name it got.
struct NamedArchive {
  const ArchivePlan& plan;
  const WrittenArchive& written;
  std::string file;
};

// The manifest's rows, in the module's order; null places without archives (weights not written). Precondition: the
// archives together hold the module's parameters.
[[nodiscard]] std::vector<ManifestParameter> manifest_parameters(const Module& module,
                                                                 std::span<const NamedArchive> archives);

}  // namespace headrace
