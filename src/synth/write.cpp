#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "synth/synth.h"
#include "weights/output_file.h"

namespace headrace {

namespace {

constexpr uint64_t kRunBytes = uint64_t{1} << 20;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }

 private:
  int number_;
};

struct Progress {
  const std::function<bool(uint64_t, uint64_t)>& hear;
  uint64_t done{}, total{};

  Status add(uint64_t bytes) {
    done += bytes;
    if (hear && !hear(done, total)) return fail(ErrorCode::kInterrupted, "interrupted");
    return {};
  }
};

Status write_tensor(const SynthOptions& options, const SynthFile& file, size_t i, OutputFile& out, Progress& progress) {
  const OutGgufTensor& tensor = file.tensors[i];
  const uint64_t length = file.layout.lengths_bytes[i];
  if (options.fill == SynthFill::kZeros) return progress.add(length);
  const auto block = static_cast<uint64_t>(info(tensor.type).block_bytes);
  std::vector<std::byte> run(std::max<uint64_t>(1, kRunBytes / block) * block);
  for (uint64_t at = 0; at < length; at += run.size()) {
    const auto bytes = std::span(run).first(std::min<uint64_t>(run.size(), length - at));
    synth_bytes(options, tensor, at, bytes);
    HR_TRY_STATUS(out.write_at(file.layout.offsets_bytes[i] + at, bytes));
    HR_TRY_STATUS(progress.add(bytes.size()));
  }
  return {};
}

uint64_t data_bytes(const std::vector<SynthFile>& files) {
  uint64_t sum = 0;
  for (const SynthFile& file : files)
    sum = std::accumulate(file.layout.lengths_bytes.begin(), file.layout.lengths_bytes.end(), sum);
  return sum;
}

}  // namespace

Result<SynthReport> write_synth(const SynthOptions& options, const std::string& path,
                                const std::function<bool(uint64_t done, uint64_t total)>& progress) {
  const std::filesystem::path target(path);
  if (target.extension() != ".gguf") return fail(ErrorCode::kOptions, "'{}': expected a name that ends in .gguf", path);
  HR_TRY(const auto files, plan_synth(options));
  const std::string folder = target.has_parent_path() ? target.parent_path().string() : ".";
  const Descriptor directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.get() < 0) return fail(ErrorCode::kFileOpen, "{}: {}", folder, std::strerror(errno));
  Progress heard{.hear = progress, .total = data_bytes(files)};
  SynthReport report;
  std::vector<OutputFile> written;
  for (const SynthFile& file : files) {
    const std::string name = target.stem().string() + file.suffix + ".gguf";
    HR_TRY(OutputFile out, OutputFile::create(directory.get(), folder, std::string(kTemporaryPrefix) + name));
    HR_TRY_STATUS(options.fill == SynthFill::kZeros ? out.stretch(file.layout.total_bytes)
                                                    : out.reserve(file.layout.total_bytes));
    HR_TRY_STATUS(out.write_at(0, std::as_bytes(std::span(file.layout.header_bytes))));
    for (size_t i = 0; i < file.tensors.size(); ++i) HR_TRY_STATUS(write_tensor(options, file, i, out, heard));
    HR_TRY_STATUS(out.sync());
    written.push_back(std::move(out));
    report.files.push_back((target.parent_path() / name).string());
    report.total_bytes += file.layout.total_bytes;
    report.tensors += file.tensors.size();
    for (const OutGgufTensor& t : file.tensors)
      report.parameters +=
          static_cast<uint64_t>(std::accumulate(t.shape.begin(), t.shape.end(), int64_t{1}, std::multiplies<>()));
  }
  for (size_t i = 0; i < written.size(); ++i)
    HR_TRY_STATUS(written[i].publish(std::filesystem::path(report.files[i]).filename().string()));
  return report;
}

}  // namespace headrace
