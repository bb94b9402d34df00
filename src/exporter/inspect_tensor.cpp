#include "exporter/inspect_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <functional>

#include "formats/file.h"

namespace headrace {

namespace {

// A run of these is decoded at a time.
constexpr uint64_t kRunElements = uint64_t{1} << 18;

using Visit = std::function<void(std::span<const double> values)>;

template <class T>
void widen(std::span<const std::byte> bytes, std::span<double> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
}

// As doubles: an f32 would make large f64 infinite, and round large integers.
void decode_f64(BlockType type, std::span<const std::byte> bytes, std::span<double> out, std::vector<float>& scratch) {
  if (type == BlockType::kF64) return widen<double>(bytes, out);
  if (type == BlockType::kI32) return widen<int32_t>(bytes, out);
  if (type == BlockType::kI64) return widen<int64_t>(bytes, out);
  if (type == BlockType::kU32) return widen<uint32_t>(bytes, out);
  if (type == BlockType::kU64) return widen<uint64_t>(bytes, out);
  scratch.resize(out.size());
  decode_f32(type, bytes, scratch);
  std::copy(scratch.begin(), scratch.end(), out.begin());
}

Status each_run(const Checkpoint& checkpoint, const TensorEntry& entry, const Visit& visit) {
  const BlockTypeInfo& type = info(entry.type);
  HR_TRY(const InputFile file, InputFile::reopen(checkpoint.files[entry.file]));
  const auto block_bytes = static_cast<uint64_t>(type.block_bytes);
  const uint64_t run_bytes = kRunElements / static_cast<uint64_t>(type.block_elements) * block_bytes;
  std::vector<std::byte> bytes;
  std::vector<double> values;
  std::vector<float> scratch;
  for (uint64_t done = 0; done < entry.length_bytes; done += bytes.size()) {
    bytes.resize(std::min(run_bytes, entry.length_bytes - done));
    values.resize(bytes.size() / block_bytes * static_cast<uint64_t>(type.block_elements));
    HR_TRY_STATUS(file.read_at(entry.offset_bytes + done, bytes));
    decode_f64(entry.type, bytes, values, scratch);
    visit(values);
  }
  return {};
}

// Sums of one run first, so that a large tensor's small values are not lost in its total. Wide, since the square of a
// large f64 is no f64.
struct Moments {
  long double sum{}, squares{};
  uint64_t finite{};

  void add(std::span<const double> values, TensorStatistics& out) {
    long double run_sum = 0;
    long double run_squares = 0;
    for (const double v : values) {
      out.nans += std::isnan(v) ? 1 : 0;
      out.infinities += std::isinf(v) ? 1 : 0;
      if (!std::isfinite(v)) continue;
      out.zeros += v == 0 ? 1 : 0;
      out.min = finite == 0 ? v : std::min(out.min, v);
      out.max = finite == 0 ? v : std::max(out.max, v);
      run_sum += v;
      run_squares += static_cast<long double>(v) * v;
      ++finite;
    }
    sum += run_sum;
    squares += run_squares;
  }
};

void count(std::span<const double> values, TensorStatistics& out) {
  const double half_width = out.max / 2 - out.min / 2;  // the whole width may be beyond f64
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    const double part = half_width == 0 ? 0 : (v / 2 - out.min / 2) / half_width;
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
  HR_TRY_STATUS(each_run(checkpoint, *entry, [&](std::span<const double> values) {
    out.elements += values.size();
    moments.add(values, out);
  }));
  if (moments.finite == 0) return out;
  const auto finite = static_cast<long double>(moments.finite);
  out.mean = static_cast<double>(moments.sum / finite);
  out.rms = static_cast<double>(std::sqrt(moments.squares / finite));
  HR_TRY_STATUS(each_run(checkpoint, *entry, [&](std::span<const double> values) { count(values, out); }));
  return out;
}

}  // namespace headrace
