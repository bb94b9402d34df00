#include "formats/safetensors_writer.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>
#include <unordered_set>

#include "base/checked.h"
#include "formats/safetensors.h"

namespace headrace {

namespace {

constexpr uint64_t kAlignment = 64;
constexpr size_t kLengthWordBytes = 8;
constexpr std::string_view kMetadataKey = "__metadata__";

// The largest power of two, at most kAlignment, that divides a tensor's length.
uint64_t natural_alignment(uint64_t length) {
  return length == 0 ? kAlignment : std::min(kAlignment, uint64_t{1} << std::countr_zero(length));
}

Status check(std::span<const OutTensor> tensors) {
  std::unordered_set<std::string_view> names;
  for (const OutTensor& t : tensors) {
    if (t.name == kMetadataKey)
      return fail(ErrorCode::kSafetensors, "safetensors: tensor name '{}' is reserved", t.name);
    if (!names.insert(t.name).second)
      return fail(ErrorCode::kSafetensors, "safetensors: two tensors are named '{}'", t.name);
    const auto elements = checked_product(t.shape);
    const auto bytes = elements ? checked_mul(*elements, storage_bytes(t.dtype)) : std::nullopt;
    if (!bytes || *bytes < 0 || static_cast<uint64_t>(*bytes) != t.length_bytes)
      return fail(ErrorCode::kSafetensors, "safetensors: tensor '{}': {} bytes do not fit shape [{}] of {}", t.name,
                  t.length_bytes, fmt::join(t.shape, ", "), name(t.dtype));
  }
  return {};
}

// Tensor indices in file order: every prefix keeps the alignment that the next tensor needs.
std::vector<size_t> file_order(std::span<const OutTensor> tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](size_t i) { return natural_alignment(tensors[i].length_bytes); });
  return order;
}

Status check_header_size(size_t bytes) {
  if (bytes <= kMaxSafetensorsHeaderBytes) return {};
  return fail(ErrorCode::kSafetensors, "safetensors: the header takes {} bytes or more, the format allows {}", bytes,
              kMaxSafetensorsHeaderBytes);
}

// JSON of one name or string. Errors: kSafetensors, when it is not UTF-8 or could not fit any header.
Result<std::string> quoted(const std::string& text) {
  HR_TRY_STATUS(check_header_size(text.size()));
  try {
    return nlohmann::json(text).dump();
  } catch (const nlohmann::json::type_error& e) {
    return fail(ErrorCode::kSafetensors, "safetensors: a name or metadata string is not UTF-8: {}", e.what());
  }
}

// Appends `"key":value` to the header's object. Joined by hand: a JSON object that keeps its order looks every new key
// up linearly.
Status append_member(std::string& object, const std::string& key, const std::string& value_json) {
  HR_TRY(const std::string key_json, quoted(key));
  object += fmt::format("{}{}:{}", object.size() > 1 ? "," : "", key_json, value_json);
  return {};
}

Result<std::string> metadata_json(const std::map<std::string, std::string>& metadata) {
  std::string object = "{";
  for (const auto& [key, value] : metadata) {
    HR_TRY(const std::string value_json, quoted(value));
    HR_TRY_STATUS(append_member(object, key, value_json));
  }
  return object + "}";
}

}  // namespace

Result<ArchiveLayout> layout_safetensors(std::span<const OutTensor> tensors,
                                         const std::map<std::string, std::string>& metadata) {
  HR_TRY_STATUS(check(tensors));
  std::string text = "{";
  if (!metadata.empty()) {
    HR_TRY(const std::string json, metadata_json(metadata));
    HR_TRY_STATUS(append_member(text, std::string(kMetadataKey), json));
  }
  ArchiveLayout layout;
  layout.offsets_bytes.resize(tensors.size());
  uint64_t end = 0;
  for (const size_t i : file_order(tensors)) {
    const OutTensor& t = tensors[i];
    const auto next = checked_add(end, t.length_bytes);
    if (!next) return fail(ErrorCode::kSafetensors, "safetensors: tensor '{}': the file's size overflows", t.name);
    HR_TRY_STATUS(append_member(text, t.name,
                                fmt::format(R"({{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})",
                                            info(t.dtype).safetensors, fmt::join(t.shape, ","), end, *next)));
    layout.offsets_bytes[i] = end;
    end = *next;
  }
  text += '}';
  text.append((kAlignment - (kLengthWordBytes + text.size()) % kAlignment) % kAlignment, ' ');
  HR_TRY_STATUS(check_header_size(text.size()));
  const uint64_t length = text.size();
  layout.header_bytes.resize(kLengthWordBytes);
  std::memcpy(layout.header_bytes.data(), &length, kLengthWordBytes);
  layout.header_bytes += text;
  for (uint64_t& offset : layout.offsets_bytes) offset += layout.header_bytes.size();
  const auto total = checked_add(end, static_cast<uint64_t>(layout.header_bytes.size()));
  if (!total) return fail(ErrorCode::kSafetensors, "safetensors: the file's size overflows");
  layout.total_bytes = *total;
  return layout;
}

}  // namespace headrace
