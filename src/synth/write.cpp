#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <numeric>
#include <set>
#include <utility>

#include "synth/synth.h"
#include "weights/output_file.h"

namespace headrace {

namespace {

constexpr uint64_t kRunBytes = uint64_t{1} << 20;

struct Progress {
  const std::function<bool(uint64_t, uint64_t)>& hear;
  uint64_t done{}, total{};

  Status add(uint64_t bytes) {
    done += bytes;
    if (hear && !hear(done, total)) return fail(ErrorCode::kInterrupted, "interrupted");
    return {};
  }
};

Status write_tensor(const SynthOptions& options, const SynthTensor& tensor, OutputFile& out, Progress& progress) {
  const uint64_t length = tensor.length_bytes;
  if (options.fill == SynthFill::kZeros) return progress.add(length);
  const auto block = static_cast<uint64_t>(info(tensor.type).block_bytes);
  std::vector<std::byte> run(std::max<uint64_t>(1, kRunBytes / block) * block);
  for (uint64_t at = 0; at < length; at += run.size()) {
    const auto bytes = std::span(run).first(std::min<uint64_t>(run.size(), length - at));
    synth_bytes(options, tensor, at, bytes);
    HR_TRY_STATUS(out.write_at(tensor.offset_bytes + at, bytes));
    HR_TRY_STATUS(progress.add(bytes.size()));
  }
  return {};
}

uint64_t data_bytes(const std::vector<SynthFile>& files) {
  uint64_t sum = 0;
  for (const SynthFile& file : files)
    for (const SynthTensor& t : file.tensors) sum += t.length_bytes;
  return sum;
}

// Where files go, open. A directory that was made for them is gone again unless they are published.
class Folder {
 public:
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        made_(std::exchange(other.made_, false)) {}
  Folder& operator=(Folder&&) = delete;
  ~Folder() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (made_) ::rmdir(path_.c_str());  // files of ours are gone by now; with others in it, it stays
  }

  static Result<Folder> open(std::string path, bool make) {
    const bool made = make && ::mkdir(path.c_str(), 0777) == 0;  // less umask
    if (make && !made && errno != EEXIST) return fail(ErrorCode::kFileOpen, "{}: {}", path, std::strerror(errno));
    const int descriptor = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    Folder folder(std::move(path), descriptor, made);
    if (descriptor < 0) return fail(ErrorCode::kFileOpen, "{}: {}", folder.path_, std::strerror(errno));
    return folder;
  }

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] int get() const { return descriptor_; }
  void keep() { made_ = false; }

 private:
  Folder(std::string path, int descriptor, bool made) : path_(std::move(path)), descriptor_(descriptor), made_(made) {}

  std::string path_;
  int descriptor_ = -1;
  bool made_ = false;
};

// Weights or an index that would stay beside the new ones make another checkpoint of the directory, or none.
Status check_no_others(const Folder& folder, const std::vector<SynthFile>& files) {
  std::set<std::string> others;
  std::error_code error;
  for (std::filesystem::directory_iterator it(folder.path(), error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename();
    const bool counts = name.ends_with(".safetensors") || name.ends_with(".safetensors.index.json");
    if (!counts || name.starts_with(kTemporaryPrefix)) continue;
    if (std::ranges::find(files, name, &SynthFile::name) == files.end()) others.insert(std::move(name));
  }
  if (others.empty()) return {};
  return fail(ErrorCode::kForeignFiles, "{}: holds {}, which is not among the files to be written: remove it",
              folder.path(), *others.begin());
}

Result<OutputFile> write_file(const SynthOptions& options, const SynthFile& file, const Folder& folder,
                              const std::string& name, Progress& progress) {
  HR_TRY(OutputFile out, OutputFile::create(folder.get(), folder.path(), std::string(kTemporaryPrefix) + name));
  HR_TRY_STATUS(options.fill == SynthFill::kZeros ? out.stretch(file.total_bytes) : out.reserve(file.total_bytes));
  HR_TRY_STATUS(out.write_at(0, std::as_bytes(std::span(file.head_bytes))));
  for (const SynthTensor& tensor : file.tensors) HR_TRY_STATUS(write_tensor(options, tensor, out, progress));
  HR_TRY_STATUS(out.sync());
  return out;
}

void count(const SynthFile& file, SynthReport& report) {
  report.total_bytes += file.total_bytes;
  report.tensors += file.tensors.size();
  for (const SynthTensor& t : file.tensors)
    report.parameters +=
        static_cast<uint64_t>(std::accumulate(t.shape.begin(), t.shape.end(), int64_t{1}, std::multiplies<>()));
}

}  // namespace

Result<SynthReport> write_synth(const SynthOptions& options, const std::string& path,
                                const std::function<bool(uint64_t done, uint64_t total)>& progress) {
  const std::filesystem::path target(path);
  const bool is_gguf = options.format == SynthFormat::kGguf;
  if (is_gguf && target.extension() != ".gguf")
    return fail(ErrorCode::kOptions, "'{}': expected a name that ends in .gguf", path);
  HR_TRY(const auto files, plan_synth(options));
  const std::string parent = target.has_parent_path() ? target.parent_path().string() : ".";
  HR_TRY(Folder folder, Folder::open(is_gguf ? parent : path, !is_gguf));
  if (!is_gguf) HR_TRY_STATUS(check_no_others(folder, files));
  Progress heard{.hear = progress, .total = data_bytes(files)};
  SynthReport report;
  std::vector<std::string> names;
  std::vector<OutputFile> written;
  for (const SynthFile& file : files) {
    names.push_back(is_gguf ? target.stem().string() + file.name : file.name);
    HR_TRY(OutputFile out, write_file(options, file, folder, names.back(), heard));
    written.push_back(std::move(out));
    report.files.push_back(((is_gguf ? target.parent_path() : target) / names.back()).string());
    count(file, report);
  }
  for (size_t i = 0; i < written.size(); ++i) HR_TRY_STATUS(written[i].publish(names[i]));
  folder.keep();
  return report;
}

}  // namespace headrace
