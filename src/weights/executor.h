// Streams the parameters of a module from the checkpoint into an archive: read -> steps -> hash -> positional write, a
// chunk at a time. A chunk is a run of whole units of one recipe (steps.h), so a tensor of any size passes through
// buffers of a fixed size. Steps run on all cores; reading, hashing and writing keep the order, so that bytes and
// hashes are the same at any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <span>

#include "base/result.h"
#include "formats/checkpoint.h"
#include "ir/module.h"
#include "weights/output_file.h"
#include "weights/plan.h"
#include "weights/steps.h"

namespace headrace {

struct ExecutorOptions {
  // Bounds the buffers. More than kMaxBufferBytes is never used: the disk gains nothing from it.
  uint64_t max_memory_bytes = uint64_t{512} << 20;
  int jobs = 0;  // threads; 0 = one a core
  // Stops the work soon after it becomes true; may be set by a signal handler. Null = cannot be stopped.
  const std::atomic<bool>* stop = nullptr;
  // Bytes written so far and in all: at the start, after each 100 ms or 64 MiB, and at the end; never from two threads
  // at once.
  std::function<void(uint64_t written_bytes, uint64_t total_bytes)> progress = nullptr;
  std::span<const Step> steps = step_table();
  std::function<void()> before_read = nullptr;  // called before each chunk is read; for tests
};

inline constexpr uint64_t kMaxBufferBytes = uint64_t{32} << 20;

// Writes the whole archive into `out` and syncs it; the caller publishes it under a name made from the result. Warns of
// parameters that hold NaN or infinities, which are kept. What rounding loses is counted and not judged: see
// rounding.h. Errors: kMemoryLimit (one unit of some recipe does not fit, with the least that would), kNoSpace (before
// anything is written where the file system tells), kFileOpen, kFileRead (short, changed or replaced source),
// kFileWrite, kInterrupted, kBlockType, kPass.
[[nodiscard]] Result<WrittenArchive> write_archive(const ArchivePlan& plan, const Module& module,
                                                   std::span<const SourceFile> files, const ExecutorOptions& options,
                                                   OutputFile& out, Warnings& warnings);

// What write_archive would yield, from the same reading and the same steps, with nothing written: to tell whether an
// archive that is there is the one that would be written. Errors: those of write_archive that are not about writing.
[[nodiscard]] Result<WrittenArchive> hash_archive(const ArchivePlan& plan, const Module& module,
                                                  std::span<const SourceFile> files, const ExecutorOptions& options,
                                                  Warnings& warnings);

}  // namespace headrace
