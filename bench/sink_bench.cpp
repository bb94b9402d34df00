// How fast an export's weights go through the executor when nothing waits for a disk to take them: read, decode, round,
// hash, and the result is dropped (hash_archive). After it the time to read the same bytes and nothing else.
//
//   sink_bench MODEL.gguf f32|bf16|f16 [JOBS] [MEMORY_MIB]
//
// The model is traced and planned as `headrace export` does. What is not in the figure is writing: the copy into the
// page cache and the disk; bench/export_bench.cpp measures that. A sparse model (headrace synth) reads at the speed of
// the kernel's zeros.
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "exporter/export.h"
#include "formats/file.h"
#include "passes/pipeline.h"
#include "weights/executor.h"
#include "weights/plan.h"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Of this program, in MiB. (getrusage's maximum would be that of the program which started it, if that is larger.)
long peak_rss_mib() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;)
    if (word == "VmHWM:") {
      long kib = 0;
      status >> kib;
      return kib / 1024;
    }
  return -1;
}

double cpu_seconds() {
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto in_seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) * 1e-6;
  };
  return in_seconds(usage.ru_utime) + in_seconds(usage.ru_stime);
}

struct Took {
  double seconds{};    // of the clock
  double processor{};  // of all threads
};

class Timer {
 public:
  [[nodiscard]] Took took() const { return {seconds_since(begin_), cpu_seconds() - cpu_begin_}; }

 private:
  Clock::time_point begin_ = Clock::now();
  double cpu_begin_ = cpu_seconds();
};

// The ranges that the recipes read, once each and in the executor's order, by one thread.
Result<Took> read_plainly(const Module& module, const std::vector<SourceFile>& files) {
  std::vector<std::byte> buffer(size_t{1} << 20);
  std::vector<InputFile> open;
  for (const SourceFile& file : files) {
    HR_TRY(InputFile input, InputFile::reopen(file));
    open.push_back(std::move(input));
  }
  const Timer timer;
  for (const Recipe& recipe : module.recipes)
    for (const SourceRange& source : recipe.sources)
      for (uint64_t at = 0; at < source.length_bytes; at += buffer.size()) {
        const auto part = std::span(buffer).first(std::min<uint64_t>(buffer.size(), source.length_bytes - at));
        HR_TRY_STATUS(open[source.file].read_at(source.offset_bytes + at, part));
      }
  return timer.took();
}

Status run(const std::string& path, DType dtype, const ExecutorOptions& options) {
  Warnings warnings;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(path, warnings));
  HR_TRY(const auto model, make_model(checkpoint, {}, warnings));
  HR_TRY(const Module traced, trace_model(*model, checkpoint, kDefaultSeq, warnings));
  HR_TRY(const Module module, run_model_pipeline(traced, {.weights = dtype}));
  HR_TRY(const auto plans, plan_archives(module, {}));
  double in_bytes = 0;
  double elements = 0;
  for (const Recipe& recipe : module.recipes)
    for (const SourceRange& source : recipe.sources) in_bytes += static_cast<double>(source.length_bytes);
  for (const auto& output : plans[0].outputs)
    elements += static_cast<double>(output.length_bytes) / static_cast<double>(storage_bytes(output.dtype));
  const auto out_bytes = static_cast<double>(plans[0].total_bytes);
  fmt::print("{:.2f} G weights, {:.2f} GB read, {:.2f} GB of {} made\n", elements / 1e9, in_bytes / 1e9,
             out_bytes / 1e9, name(dtype));

  const Timer timer;
  HR_TRY(const WrittenArchive hashed, hash_archive(plans[0], module, checkpoint.files, options, warnings));
  const Took took = timer.took();
  const long rss = peak_rss_mib();
  HR_TRY(const Took read, read_plainly(module, checkpoint.files));
  fmt::print(
      "weights to a sink: {:.2f} s, {:.2f} s of processor; {:.2f} G elements/s, {:.2f} a processor second; peak RSS {} "
      "MiB\n",
      took.seconds, took.processor, elements / took.seconds / 1e9, elements / took.processor / 1e9, rss);
  fmt::print(
      "reading alone:     {:.2f} s, {:.2f} s of processor; ratio {:.2f}, of processor time {:.2f} (content {})\n",
      read.seconds, read.processor, took.seconds / read.seconds, took.processor / read.processor, hashed.content);
  return {};
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  const std::string wanted = argc > 2 ? argv[2] : "";
  if (wanted != "f32" && wanted != "bf16" && wanted != "f16") {
    fmt::print(stderr, "usage: sink_bench MODEL.gguf f32|bf16|f16 [JOBS] [MEMORY_MIB]\n");
    return 2;
  }
  const auto dtype = wanted == "f32"    ? headrace::DType::kF32
                     : wanted == "bf16" ? headrace::DType::kBF16
                                        : headrace::DType::kF16;
  headrace::ExecutorOptions options;
  if (argc > 3) options.jobs = std::atoi(argv[3]);
  if (argc > 4) options.max_memory_bytes = static_cast<uint64_t>(std::atoi(argv[4])) << 20;
  const auto status = headrace::run(argv[1], dtype, options);
  if (!status) fmt::print(stderr, "{}\n", status.error().text());
  return status ? 0 : 1;
}
