#include <algorithm>
#include <numeric>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "base/checked.h"
#include "formats/gguf_part.h"
#include "formats/names.h"

namespace headrace {

namespace {

constexpr uint64_t kMaxTensors = 1U << 17;  // the largest models hold a few thousand
constexpr uint64_t kMaxNameBytes = 64;      // the format's limit
constexpr uint32_t kMaxDims = 4;
constexpr uint64_t kMinTensorBytes = 8 + 4 + 8 + 4 + 8;  // name length, dims, one dim, type, offset

Result<std::string> read_name(HeaderReader& reader) {
  HR_TRY(const uint64_t length, reader.number<uint64_t>());
  if (length == 0 || length > kMaxNameBytes)
    return fail(ErrorCode::kGgufTensor, "its name has {} bytes, expected 1 to {}", length, kMaxNameBytes);
  HR_TRY(std::string name, reader.text(length));
  if (!is_tensor_name(name))
    return fail(ErrorCode::kGgufTensor, "its name {:?} is not UTF-8 without control characters", name);
  return name;
}

// Turns the file's innermost-first dims round. Errors: kGgufTensor.
Result<std::vector<int64_t>> read_shape(HeaderReader& reader) {
  HR_TRY(const uint32_t dims, reader.number<uint32_t>());
  if (dims == 0 || dims > kMaxDims)
    return fail(ErrorCode::kGgufTensor, "has {} dims, expected 1 to {}", dims, kMaxDims);
  std::vector<int64_t> shape(dims);
  for (uint32_t i = 0; i < dims; ++i) {
    HR_TRY(const uint64_t dim, reader.number<uint64_t>());
    if (dim == 0 || dim > INT64_MAX) return fail(ErrorCode::kGgufTensor, "dim {} is {}, expected 1 to 2^63-1", i, dim);
    shape[dims - 1 - i] = static_cast<int64_t>(dim);
  }
  return shape;
}

Result<BlockType> read_block_type(HeaderReader& reader) {
  HR_TRY(const uint32_t id, reader.number<uint32_t>());
  if (const auto type = block_type_from_gguf(id)) return *type;
  if (is_retired_gguf_id(id))
    return fail(ErrorCode::kBlockType, "type id {} was retired by ggml; convert the model again", id);
  return fail(ErrorCode::kBlockType, "type id {} is unknown", id);
}

// Bytes of a tensor: whole blocks along each row.
Result<uint64_t> length_bytes(const std::vector<int64_t>& shape, BlockType type) {
  const BlockTypeInfo& row = info(type);
  if (shape.back() % row.block_elements != 0)
    return fail(ErrorCode::kGgufTensor, "{} elements per row, not a multiple of {} ({})", shape.back(),
                row.block_elements, row.name);
  const auto elements = checked_product(shape);
  const auto bytes = elements ? checked_mul(*elements / row.block_elements, row.block_bytes) : std::nullopt;
  if (!bytes) return fail(ErrorCode::kGgufTensor, "size of [{}] {} overflows", fmt::join(shape, ", "), row.name);
  return static_cast<uint64_t>(*bytes);
}

// Everything of the entry that follows the name; offset_bytes still counts from the start of the data.
Status read_rest(HeaderReader& reader, uint64_t alignment, TensorEntry& tensor) {
  HR_TRY(tensor.shape, read_shape(reader));
  HR_TRY(tensor.type, read_block_type(reader));
  HR_TRY(tensor.offset_bytes, reader.number<uint64_t>());
  HR_TRY(tensor.length_bytes, length_bytes(tensor.shape, tensor.type));
  if (tensor.offset_bytes % alignment != 0)
    return fail(ErrorCode::kGgufTensor, "offset {} is not a multiple of the alignment {}", tensor.offset_bytes,
                alignment);
  return {};
}

// Makes the offset absolute and checks that the range lies in the file.
Status place(TensorEntry& tensor, uint64_t data_start, uint64_t file_bytes) {
  const auto start = checked_add(tensor.offset_bytes, data_start);
  const auto end = start ? checked_add(*start, tensor.length_bytes) : std::nullopt;
  if (!end)
    return fail(ErrorCode::kGgufTensor, "tensor '{}': offset {} plus {} bytes overflows", tensor.name,
                tensor.offset_bytes, tensor.length_bytes);
  if (*end > file_bytes)
    return fail(ErrorCode::kGgufTensor, "tensor '{}': its data ends at byte {}, the file has {}: truncated or corrupt",
                tensor.name, *end, file_bytes);
  tensor.offset_bytes = *start;
  return {};
}

Status check_overlaps(const std::vector<TensorEntry>& tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return tensors[i].offset_bytes; });
  for (size_t i = 1; i < order.size(); ++i) {
    const TensorEntry& before = tensors[order[i - 1]];
    const TensorEntry& after = tensors[order[i]];
    if (before.offset_bytes + before.length_bytes > after.offset_bytes)
      return fail(ErrorCode::kGgufTensor, "tensors '{}' and '{}' overlap: bytes {} to {}, and {} on", before.name,
                  after.name, before.offset_bytes, before.offset_bytes + before.length_bytes, after.offset_bytes);
  }
  return {};
}

}  // namespace

Result<std::vector<TensorEntry>> read_gguf_tensors(HeaderReader& reader, uint64_t tensors, uint64_t alignment,
                                                   uint64_t file_bytes) {
  reader.set_code(ErrorCode::kGgufTensor);
  HR_TRY_STATUS(reader.need(tensors, kMinTensorBytes));
  if (tensors > kMaxTensors)
    return fail(ErrorCode::kGgufHeader, "{} tensors, more than the {} accepted", tensors, kMaxTensors);
  std::vector<TensorEntry> out;
  out.reserve(tensors);
  std::unordered_set<std::string> names;
  for (uint64_t i = 0; i < tensors; ++i) {
    auto name = read_name(reader);
    if (!name) return fail(std::move(name).error().in(fmt::format("tensor {} of {}", i + 1, tensors)));
    TensorEntry tensor;
    tensor.name = *std::move(name);
    if (auto status = read_rest(reader, alignment, tensor); !status)
      return fail(std::move(status).error().in(fmt::format("tensor '{}'", tensor.name)));
    if (!names.insert(tensor.name).second) return fail(ErrorCode::kGgufTensor, "tensor '{}' occurs twice", tensor.name);
    out.push_back(std::move(tensor));
  }
  const auto data_start = checked_align(reader.position_bytes(), alignment);
  HR_CHECK(data_start.has_value());  // both are far below 2^63
  for (TensorEntry& tensor : out) HR_TRY_STATUS(place(tensor, *data_start, file_bytes));
  HR_TRY_STATUS(check_overlaps(out));
  return out;
}

}  // namespace headrace
