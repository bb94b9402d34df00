// How long writing an export's weights takes, against writing as many bytes with fsync and nothing else: one after the
// other in each round, because disks change their mind between runs.
//
//   export_bench MODEL.gguf DIRECTORY [ROUNDS] [JOBS]
//
// Prints a line per round and the medians. The target for the ratio is 1.25.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "formats/checkpoint.h"
#include "weights/executor.h"
#include "weights/output_file.h"
#include "weights/plan.h"

namespace headrace {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

Module decoded_module(const Checkpoint& checkpoint) {
  Module module;
  for (const TensorEntry& entry : checkpoint.tensors) {
    const Type type{DType::kF32, Shape(entry.shape.begin(), entry.shape.end())};
    module.parameters.push_back(
        {.name = entry.name, .type = type, .recipe = static_cast<uint32_t>(module.recipes.size())});
    module.recipes.push_back({.sources = {{entry.name, entry.type, entry.file, entry.offset_bytes, entry.length_bytes}},
                              .steps = {StepKind::kDecode},
                              .outputs = {{entry.name, type}}});
  }
  return module;
}

Result<double> write_plainly(int directory, const std::string& shown, uint64_t bytes) {
  std::vector<std::byte> buffer(size_t{1} << 20);
  std::mt19937_64 random(1);
  for (auto& byte : buffer) byte = static_cast<std::byte>(random());
  const auto begin = Clock::now();
  HR_TRY(OutputFile file, OutputFile::create(directory, shown, ".headrace-tmp-plain"));
  for (uint64_t at = 0; at < bytes; at += buffer.size()) {
    HR_TRY_STATUS(file.write_at(at, std::span(buffer).first(std::min<uint64_t>(buffer.size(), bytes - at))));
  }
  HR_TRY_STATUS(file.sync());
  return seconds_since(begin);
}

Result<double> write_weights(int directory, const std::string& shown, const std::string& model, int jobs) {
  const auto begin = Clock::now();
  Warnings warnings;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(model, warnings));
  const Module module = decoded_module(checkpoint);
  HR_TRY(const auto plans, plan_archives(module, {}));
  const ArchivePlan& plan = plans[0];
  HR_TRY(OutputFile file, OutputFile::create(directory, shown, ".headrace-tmp-weights"));
  HR_TRY(const WrittenArchive written, write_archive(plan, module, checkpoint.files, {.jobs = jobs}, file, warnings));
  return seconds_since(begin);
}

Status run(const std::string& model, const std::string& directory_path, int rounds, int jobs) {
  Warnings warnings;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(model, warnings));
  HR_TRY(const auto plans, plan_archives(decoded_module(checkpoint), {}));
  const ArchivePlan& plan = plans[0];
  const int directory = ::open(directory_path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  std::vector<double> plain;
  std::vector<double> weights;
  std::vector<double> ratios;
  for (int round = 0; round < rounds; ++round) {
    HR_TRY(const double a, write_plainly(directory, directory_path, plan.total_bytes));
    HR_TRY(const double b, write_weights(directory, directory_path, model, jobs));
    plain.push_back(a);
    weights.push_back(b);
    ratios.push_back(b / a);
    fmt::print("plain {:.3f} s, weights {:.3f} s, ratio {:.2f}\n", a, b, b / a);
  }
  rusage usage = {};
  ::getrusage(RUSAGE_SELF, &usage);
  const double best = *std::min_element(weights.begin(), weights.end()) / *std::min_element(plain.begin(), plain.end());
  fmt::print(
      "{} bytes; medians: plain {:.3f} s, weights {:.3f} s ({:.2f} GB/s), ratio {:.2f}; best against best {:.2f}; "
      "peak RSS {} MB\n",
      plan.total_bytes, median(plain), median(weights), static_cast<double>(plan.total_bytes) / median(weights) / 1e9,
      median(ratios), best, usage.ru_maxrss / 1024);
  ::close(directory);
  return {};
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: export_bench MODEL.gguf DIRECTORY [ROUNDS] [JOBS]\n");
    return 2;
  }
  const auto status =
      headrace::run(argv[1], argv[2], argc > 3 ? std::atoi(argv[3]) : 5, argc > 4 ? std::atoi(argv[4]) : 0);
  if (!status) fmt::print(stderr, "{}\n", status.error().text());
  return status ? 0 : 1;
}
