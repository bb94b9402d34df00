#include "exporter/inspect_tensor.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>

#include "formats/file.h"

namespace headrace {

namespace {

constexpr uint64_t kRunBytes = uint64_t{1} << 20;

using Visit = std::function<void(std::span<const float> values)>;

Status each_run(const Checkpoint& checkpoint, const TensorEntry& entry, const Visit& visit) {
  const BlockTypeInfo& type = info(entry.type);
  HR_TRY(const InputFile file, InputFile::reopen(checkpoint.files[entry.file]));
  const auto block_bytes = static_cast<uint64_t>(type.block_bytes);
  const uint64_t run_bytes = std::max<uint64_t>(1, kRunBytes / block_bytes) * block_bytes;
  std::vector<std::byte> bytes;
  std::vector<float> values;
  for (uint64_t done = 0; done < entry.length_bytes; done += bytes.size()) {
    bytes.resize(std::min(run_bytes, entry.length_bytes - done));
    values.resize(bytes.size() / block_bytes * static_cast<uint64_t>(type.block_elements));
    HR_TRY_STATUS(file.read_at(entry.offset_bytes + done, bytes));
    decode_f32(entry.type, bytes, values);
    visit(values);
  }
  return {};
}

// Sums of one run first, so that a large tensor's small values are not lost in its total.
struct Moments {
  double sum{}, squares{};
  uint64_t finite{};

  void add(std::span<const float> values, TensorStatistics& out) {
    double run_sum = 0;
    double run_squares = 0;
    for (const float v : values) {
      out.nans += std::isnan(v) ? 1 : 0;
      out.infinities += std::isinf(v) ? 1 : 0;
      if (!std::isfinite(v)) continue;
      const auto wide = static_cast<double>(v);
      out.zeros += v == 0 ? 1 : 0;
      out.min = finite == 0 ? wide : std::min(out.min, wide);
      out.max = finite == 0 ? wide : std::max(out.max, wide);
      run_sum += wide;
      run_squares += wide * wide;
      ++finite;
    }
    sum += run_sum;
    squares += run_squares;
  }
};

void count(std::span<const float> values, TensorStatistics& out) {
  const double width = out.max - out.min;
  for (const float v : values) {
    if (!std::isfinite(v)) continue;
    const double part = width == 0 ? 0 : (static_cast<double>(v) - out.min) / width;
    ++out.histogram[std::min(kHistogramBins - 1, static_cast<size_t>(part * static_cast<double>(kHistogramBins)))];
  }
}

}  // namespace

Result<TensorStatistics> tensor_statistics(const Checkpoint& checkpoint, const std::string& name) {
  const TensorEntry* entry = checkpoint.find(name);
  if (entry == nullptr)
    return fail(ErrorCode::kInput, "there is no tensor '{}' among the {}", name, checkpoint.tensors.size());
  if (!can_decode(entry->type))
    return fail(ErrorCode::kBlockType, "tensor '{}' has type {}, which cannot be decoded", name,
                info(entry->type).name);
  TensorStatistics out{.name = name,
                       .type = std::string(info(entry->type).name),
                       .shape = entry->shape,
                       .file = std::filesystem::path(checkpoint.files[entry->file].path).filename().string(),
                       .offset_bytes = entry->offset_bytes,
                       .length_bytes = entry->length_bytes,
                       .histogram = std::vector<uint64_t>(kHistogramBins)};
  Moments moments;
  HR_TRY_STATUS(each_run(checkpoint, *entry, [&](std::span<const float> values) {
    out.elements += values.size();
    moments.add(values, out);
  }));
  if (moments.finite == 0) return out;
  out.mean = moments.sum / static_cast<double>(moments.finite);
  out.rms = std::sqrt(moments.squares / static_cast<double>(moments.finite));
  HR_TRY_STATUS(each_run(checkpoint, *entry, [&](std::span<const float> values) { count(values, out); }));
  return out;
}

}  // namespace headrace
