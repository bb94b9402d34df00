#include <array>
#include <string_view>
#include <utility>

#include "formats/gguf_part.h"
#include "formats/names.h"

namespace headrace {

namespace {

constexpr uint64_t kMaxKeys = 65536;           // real files hold a few dozen
constexpr uint64_t kMaxKeyBytes = 65535;       // the format's limit
constexpr uint64_t kMaxArrayItems = 1U << 24;  // the largest vocabularies hold 2^18 pieces
constexpr uint64_t kMinKeyBytes = 8 + 4 + 1;   // name length, type, the smallest value; the name comes on top
constexpr uint64_t kMinStringBytes = 8;

enum class ValueType : uint32_t { kU8, kI8, kU16, kI16, kU32, kI32, kF32, kBool, kString, kArray, kU64, kI64, kF64 };
constexpr uint32_t kValueTypes = 13;

Result<ValueType> read_type(HeaderReader& reader) {
  HR_TRY(const uint32_t id, reader.number<uint32_t>());
  if (id >= kValueTypes)
    return fail(ErrorCode::kGgufMetadata, "value type {} is unknown, expected 0 to {}", id, kValueTypes - 1);
  return static_cast<ValueType>(id);
}

Result<std::string> read_string(HeaderReader& reader) {
  HR_TRY(const uint64_t length, reader.number<uint64_t>());
  return reader.text(length);
}

// `count` numbers of type Stored, kept as Kept. They are read in pieces, so that only the kept form is held whole.
template <class Stored, class Kept>
Result<std::vector<Kept>> read_numbers(HeaderReader& reader, uint64_t count) {
  HR_TRY_STATUS(reader.need(count, sizeof(Stored)));
  std::vector<Kept> out;
  out.reserve(count);
  std::array<Stored, 1024> piece;
  while (out.size() < count) {
    const auto part = std::span(piece).first(static_cast<size_t>(std::min<uint64_t>(piece.size(), count - out.size())));
    HR_TRY_STATUS(reader.read(std::as_writable_bytes(part)));
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

Result<std::vector<bool>> read_bools(HeaderReader& reader, uint64_t count) {
  HR_TRY(const auto bytes, (read_numbers<uint8_t, uint8_t>(reader, count)));
  std::vector<bool> out;
  out.reserve(bytes.size());
  for (const uint8_t byte : bytes) {
    if (byte > 1) return fail(ErrorCode::kGgufMetadata, "a bool holds the byte {}, expected 0 or 1", byte);
    out.push_back(byte == 1);
  }
  return out;
}

Result<std::vector<std::string>> read_strings(HeaderReader& reader, uint64_t count) {
  HR_TRY_STATUS(reader.need(count, kMinStringBytes));
  std::vector<std::string> out;
  out.reserve(count);
  for (uint64_t i = 0; i < count; ++i) {
    HR_TRY(std::string item, read_string(reader));
    out.push_back(std::move(item));
  }
  return out;
}

template <class T>
Result<MetaArray> as_array(Result<std::vector<T>> items) {
  if (!items) return fail(std::move(items).error());
  return MetaArray(std::move(*items));
}

Result<MetaArray> read_items(HeaderReader& reader, ValueType type, uint64_t count) {
  switch (type) {
    case ValueType::kU8:
      return as_array(read_numbers<uint8_t, uint8_t>(reader, count));
    case ValueType::kU16:
      return as_array(read_numbers<uint16_t, uint64_t>(reader, count));
    case ValueType::kU32:
      return as_array(read_numbers<uint32_t, uint64_t>(reader, count));
    case ValueType::kU64:
      return as_array(read_numbers<uint64_t, uint64_t>(reader, count));
    case ValueType::kI8:
      return as_array(read_numbers<int8_t, int8_t>(reader, count));
    case ValueType::kI16:
      return as_array(read_numbers<int16_t, int64_t>(reader, count));
    case ValueType::kI32:
      return as_array(read_numbers<int32_t, int64_t>(reader, count));
    case ValueType::kI64:
      return as_array(read_numbers<int64_t, int64_t>(reader, count));
    case ValueType::kF32:
      return as_array(read_numbers<float, double>(reader, count));
    case ValueType::kF64:
      return as_array(read_numbers<double, double>(reader, count));
    case ValueType::kBool:
      return as_array(read_bools(reader, count));
    case ValueType::kString:
      return as_array(read_strings(reader, count));
    case ValueType::kArray:
      break;
  }
  return fail(ErrorCode::kGgufMetadata, "an array of arrays is not supported");
}

Result<MetaArray> read_array(HeaderReader& reader) {
  HR_TRY(const ValueType type, read_type(reader));
  HR_TRY(const uint64_t count, reader.number<uint64_t>());
  if (count > kMaxArrayItems)
    return fail(ErrorCode::kGgufMetadata, "an array of {} items, more than the {} accepted", count, kMaxArrayItems);
  return read_items(reader, type, count);
}

// A scalar is an array of one without its header.
template <class T>
MetaValue first_item(const std::vector<T>& items) {
  return {.value = items[0]};
}
MetaValue first_item(const std::vector<int8_t>& items) { return {.value = int64_t{items[0]}}; }
MetaValue first_item(const std::vector<uint8_t>& items) { return {.value = uint64_t{items[0]}}; }

Result<MetaValue> read_value(HeaderReader& reader, ValueType type) {
  if (type == ValueType::kArray) {
    HR_TRY(MetaArray array, read_array(reader));
    return MetaValue{.value = std::move(array)};
  }
  HR_TRY(const MetaArray one, read_items(reader, type, 1));
  return std::visit([](const auto& items) { return first_item(items); }, one);
}

Result<std::string> read_key(HeaderReader& reader) {
  HR_TRY(const uint64_t length, reader.number<uint64_t>());
  if (length == 0 || length > kMaxKeyBytes)
    return fail(ErrorCode::kGgufMetadata, "its name has {} bytes, expected 1 to {}", length, kMaxKeyBytes);
  HR_TRY(std::string name, reader.text(length));
  if (!is_key(name)) return fail(ErrorCode::kGgufMetadata, "its name {:?} is not printable ASCII", name);
  return name;
}

Result<MetaValue> read_typed_value(HeaderReader& reader) {
  HR_TRY(const ValueType type, read_type(reader));
  return read_value(reader, type);
}

}  // namespace

Result<Metadata> read_gguf_metadata(HeaderReader& reader, uint64_t keys) {
  HR_TRY_STATUS(reader.need(keys, kMinKeyBytes));
  if (keys > kMaxKeys)
    return fail(ErrorCode::kGgufHeader, "{} metadata keys, more than the {} accepted", keys, kMaxKeys);
  reader.set_code(ErrorCode::kGgufMetadata);
  Metadata out;
  for (uint64_t i = 0; i < keys; ++i) {
    auto name = read_key(reader);
    if (!name) return fail(std::move(name).error().in(fmt::format("metadata key {} of {}", i + 1, keys)));
    auto value = read_typed_value(reader);
    if (!value) return fail(std::move(value).error().in(fmt::format("key '{}'", *name)));
    if (!out.emplace(*name, std::move(*value)).second)
      return fail(ErrorCode::kGgufMetadata, "key '{}' occurs twice", *name);
  }
  return out;
}

}  // namespace headrace
