// Where every parameter's bytes will lie in the archive, decided before any is read: writes are positional, so they can
// come in any order and from any number of threads.
#pragma once

#include <cstdint>
#include <map>
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
  std::string format;        // "safetensors"
  std::string header_bytes;  // at offset 0
  uint64_t total_bytes{};
  std::vector<PlannedOutput> outputs = {};
};

// `metadata` goes into the file's header. Errors: kSafetensors (names, sizes), kPass (a parameter does not agree with
// its recipe's output).
[[nodiscard]] Result<ArchivePlan> plan_archive(const Module& module,
                                               const std::map<std::string, std::string>& metadata);

// What writing a plan yields. Nothing of it depends on the number of threads.
struct WrittenArchive {
  std::vector<std::string> xxh3 = {};  // of each planned output, in the plan's order
  std::vector<RoundingLoss> loss = {};  // likewise; zero where no step rounds
  std::string content;                 // XXH3-128 of the header and these hashes: names the file
};

// The manifest's rows, in the module's order; null places when `plan` is null (weights not written). `file` is the
// archive's name. Precondition: plan and written belong to the module.
[[nodiscard]] std::vector<ManifestParameter> manifest_parameters(const Module& module, const ArchivePlan* plan,
                                                                 const WrittenArchive* written,
                                                                 const std::string& file);

}  // namespace headrace
