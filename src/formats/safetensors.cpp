#include "formats/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <tuple>
#include <utility>

#include "formats/safetensors_header.h"
#include "formats/sniff.h"

namespace headrace {

namespace {

constexpr uint64_t kLengthWordBytes = 8;

// The header's length. What is no safetensors file at all is called by its name.
Result<uint64_t> header_length(const InputFile& file) {
  std::array<std::byte, kSniffBytes> buffer;
  const auto first = std::span(buffer).first(static_cast<size_t>(std::min<uint64_t>(buffer.size(), file.size_bytes())));
  HR_TRY_STATUS(file.read_at(0, first));
  const std::string_view bytes(reinterpret_cast<const char*>(first.data()), first.size());
  if (sniff_container(bytes) != ContainerKind::kSafetensors)
    if (const auto what = foreign_file(bytes, file.size_bytes()))
      return fail(ErrorCode::kNotACheckpoint, "not a checkpoint: {}", *what);
  if (bytes.size() < kLengthWordBytes)
    return fail(ErrorCode::kSafetensors, "{} bytes, the length of a header takes {}", bytes.size(), kLengthWordBytes);
  uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof length);
  if (length > kMaxSafetensorsHeaderBytes)
    return fail(ErrorCode::kSafetensors, "the header's length is {}, expected at most {}", length,
                kMaxSafetensorsHeaderBytes);
  if (length > file.size_bytes() - kLengthWordBytes)
    return fail(ErrorCode::kSafetensors, "the header's length is {}, but only {} bytes follow: truncated or corrupt",
                length, file.size_bytes() - kLengthWordBytes);
  if (length == 0 || bytes[kLengthWordBytes] != '{')
    return fail(ErrorCode::kSafetensors, "the header of {} bytes does not start with '{{'", length);
  return length;
}

Status check_names(const std::vector<TensorEntry>& tensors) {
  std::vector<uint32_t> order(tensors.size());
  std::iota(order.begin(), order.end(), 0U);
  const auto name = [&](uint32_t i) -> const std::string& { return tensors[i].name; };
  std::ranges::sort(order, {}, name);
  const auto twice = std::ranges::adjacent_find(order, {}, name);
  if (twice == order.end()) return {};
  return fail(ErrorCode::kSafetensors, "tensor '{}' occurs twice", tensors[*twice].name);
}

// Each tensor begins where the one before it ends, the first at 0, and the last one ends with the data. Sorted by
// place.
Status check_cover(const std::vector<TensorEntry>& tensors, uint64_t data_bytes) {
  uint64_t end = 0;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const TensorEntry& t = tensors[i];
    if (t.offset_bytes < end)
      return fail(ErrorCode::kSafetensors, "tensors '{}' and '{}' overlap: bytes {} to {}, and {} on",
                  tensors[i - 1].name, t.name, tensors[i - 1].offset_bytes, end, t.offset_bytes);
    if (t.offset_bytes > end)
      return fail(ErrorCode::kSafetensors, "tensor '{}' begins at byte {} of the data, after a hole of {} bytes",
                  t.name, t.offset_bytes, t.offset_bytes - end);
    end += t.length_bytes;
  }
  if (end == data_bytes) return {};
  return fail(ErrorCode::kSafetensors, "{} bytes follow the data of the last tensor", data_bytes - end);
}

Result<SafetensorsFile> read(const InputFile& file, HeaderHash& hash) {
  HR_TRY(const uint64_t length, header_length(file));
  const uint64_t data_start = kLengthWordBytes + length;
  SafetensorsFile out{.source = file.source(), .tensors = {}};
  {
    HR_TRY(const std::string header, file.read_text(0, data_start));
    hash.add(std::as_bytes(std::span(header)));
    HR_TRY(out.tensors,
           parse_safetensors_header(std::string_view(header).substr(kLengthWordBytes), file.size_bytes() - data_start));
  }
  HR_TRY_STATUS(check_names(out.tensors));
  std::ranges::sort(out.tensors, {}, [](const TensorEntry& t) {
    return std::tuple<uint64_t, uint64_t, const std::string&>(t.offset_bytes, t.length_bytes, t.name);
  });
  HR_TRY_STATUS(check_cover(out.tensors, file.size_bytes() - data_start));
  for (TensorEntry& tensor : out.tensors) tensor.offset_bytes += data_start;
  return out;
}

}  // namespace

Result<SafetensorsFile> read_safetensors(const InputFile& file, HeaderHash& hash) {
  auto out = read(file, hash);
  if (!out && out.error().code != ErrorCode::kFileRead) return fail(std::move(out).error().in(file.path()));
  return out;
}

}  // namespace headrace
