#include "exporter/weights_stage.h"

#include <unistd.h>

#include <atomic>
#include <fstream>
#include <numeric>

#include "weights/executor.h"
#include "weights/load.h"
#include "weights/rounding.h"

namespace headrace {

namespace {

// What the process occupies now. Weights have not been touched yet, so this is code, header and graphs. (Not
// getrusage's maximum: it survives exec, so a large parent would count.) 0 where the system does not tell.
uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total_pages = 0;
  uint64_t resident_pages = 0;
  if (!(statm >> total_pages >> resident_pages)) return 0;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// What --max-memory leaves for buffers. The bound is on the whole process, so what it occupies already counts, and so
// do the threads' stacks and the texts that are still to be written.
Result<uint64_t> buffer_budget(uint64_t max_memory_bytes) {
  constexpr uint64_t kReserve = uint64_t{4} << 20;
  const uint64_t taken = resident_bytes() + kReserve;
  if (max_memory_bytes <= taken)
    return fail(ErrorCode::kMemoryLimit,
                "at most {} bytes of memory are allowed, and {} are taken before any weight is read", max_memory_bytes,
                taken);
  return max_memory_bytes - taken;
}

// Whether the export there has the parameters that would be written, made in the same way. That their bytes are the
// same is seen later, by their hashes. Found here: a wrong choice of directory, before minutes of reading.
Status check_shared(const std::string& other, const Module& module) {
  HR_TRY(const LoadedExport loaded, load_export(other));
  if (loaded.manifest.archives.empty())
    return fail(ErrorCode::kArchive, "{}: was written without weights: there is no archive to share", other);
  for (const Parameter& wanted : module.parameters) {
    const ManifestParameter* there = loaded.manifest.parameter(wanted.name);
    const std::string recipe = in_words(module.recipes[wanted.recipe]);
    if (there == nullptr || there->recipe != recipe)
      return fail(ErrorCode::kArchive, "{}: its archive cannot be shared: parameter '{}' is {}, expected {}", other,
                  wanted.name, there == nullptr ? "not there" : there->recipe, recipe);
  }
  if (loaded.manifest.parameters.size() != module.parameters.size())
    return fail(ErrorCode::kArchive, "{}: its archive cannot be shared: it has {} parameters, expected {}", other,
                loaded.manifest.parameters.size(), module.parameters.size());
  return {};
}

// One archive after the other, with one progress over all.
class Stage {
 public:
  Stage(ExportDirectory& directory, const ExportOptions& options, const ExportHooks& hooks, ContractParts& parts)
      : directory_(directory), options_(options), hooks_(hooks), parts_(parts) {}

  Status run(std::span<const ArchivePlan> plans, Warnings& warnings) {
    total_bytes_ = std::accumulate(plans.begin(), plans.end(), uint64_t{0},
                                   [](uint64_t sum, const ArchivePlan& plan) { return sum + plan.total_bytes; });
    std::atomic<bool> stop = false;
    const std::stop_callback forward(hooks_.stop, [&] { stop = true; });
    executor_.jobs = options_.jobs;
    executor_.stop = &stop;
    HR_TRY(executor_.max_memory_bytes, buffer_budget(options_.max_memory_bytes));
    if (hooks_.progress)
      executor_.progress = [this](uint64_t done, uint64_t) {
        hooks_.progress({.bytes_done = before_bytes_ + done, .bytes_total = total_bytes_});
      };
    written_.reserve(plans.size());  // the archives refer to it
    std::vector<NamedArchive> archives;
    for (const ArchivePlan& plan : plans) {
      HR_TRY(ManifestArchive archive, one(plan, warnings));
      archives.push_back({.plan = plan, .written = written_.back(), .file = archive.file});
      parts_.archives.push_back(std::move(archive));
      before_bytes_ += plan.total_bytes;
    }
    parts_.parameters = manifest_parameters(parts_.module, archives);
    return {};
  }

 private:
  Result<ManifestArchive> one(const ArchivePlan& plan, Warnings& warnings) {
    const auto& files = parts_.checkpoint.files;
    if (!options_.share.empty()) {
      HR_TRY(WrittenArchive hashed, hash_archive(plan, parts_.module, files, executor_, warnings));
      written_.push_back(std::move(hashed));
      return directory_.share_archive(options_.share, plan, written_.back());
    }
    HR_TRY(OutputFile file, directory_.new_archive());
    HR_TRY(WrittenArchive written, write_archive(plan, parts_.module, files, executor_, file, warnings));
    written_.push_back(std::move(written));
    return directory_.add_archive(std::move(file), plan, written_.back());
  }

  ExportDirectory& directory_;
  const ExportOptions& options_;
  const ExportHooks& hooks_;
  ContractParts& parts_;
  ExecutorOptions executor_;
  std::vector<WrittenArchive> written_;
  uint64_t total_bytes_ = 0;
  uint64_t before_bytes_ = 0;  // of the archives that are done
};

}  // namespace

Status write_weights(ExportDirectory& directory, const ExportOptions& options, const ExportHooks& hooks,
                     ContractParts& parts, ExportReport& report, Warnings& warnings) {
  if (options.weights.empty()) {
    parts.parameters = manifest_parameters(parts.module, {});
    return {};
  }
  HR_TRY(const auto plans, plan_archives(parts.module, {.format = options.weights,
                                                        .max_shard_bytes = options.max_shard_bytes,
                                                        .metadata = {{"format", "headrace"}}}));
  if (!options.share.empty()) HR_TRY_STATUS(check_shared(options.share, parts.module));
  HR_TRY_STATUS(Stage(directory, options, hooks, parts).run(plans, warnings));
  for (const ManifestArchive& archive : parts.archives) report.weight_bytes += archive.size_bytes;
  return check_overflow(parts.parameters, options.allow_overflow, warnings);
}

}  // namespace headrace
