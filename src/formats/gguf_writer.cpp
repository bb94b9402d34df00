#include "formats/gguf_writer.h"

#include <bit>
#include <limits>
#include <type_traits>
#include <unordered_set>

#include "base/checked.h"

namespace headrace {

namespace {

constexpr uint64_t kAlignment = 32;  // general.alignment's default
enum Type : uint32_t {
  kU32 = 4,
  kI32 = 5,
  kF32 = 6,
  kBool = 7,
  kString = 8,
  kArray = 9,
  kU64 = 10,
  kI64 = 11,
  kF64 = 12
};

class Writer {
 public:
  std::string bytes;

  template <class T>
  void number(T value) {
    if constexpr (std::is_floating_point_v<T>) {
      using Bits = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;
      return number(std::bit_cast<Bits>(value));
    } else {
      for (size_t i = 0; i < sizeof(T); ++i)
        bytes += static_cast<char>((static_cast<std::make_unsigned_t<T>>(value) >> (8 * i)) & 0xFF);
    }
  }
  void text(std::string_view value) {
    number(uint64_t{value.size()});
    bytes += value;
  }

  // The narrowest type that holds all of `items`; then each by write().
  template <class T>
  static Type type_of(std::span<const T> items) {
    const auto all = [&](auto fits) { return std::all_of(items.begin(), items.end(), fits); };
    if constexpr (std::is_same_v<T, std::string>) return kString;
    if constexpr (std::is_same_v<T, uint64_t>)
      return all([](uint64_t v) { return v <= std::numeric_limits<uint32_t>::max(); }) ? kU32 : kU64;
    if constexpr (std::is_same_v<T, int64_t>)
      return all([](int64_t v) { return v == static_cast<int32_t>(v); }) ? kI32 : kI64;
    if constexpr (std::is_same_v<T, double>)
      return all([](double v) { return static_cast<double>(static_cast<float>(v)) == v || v != v; }) ? kF32 : kF64;
    return kBool;
  }
  template <class T>
  void write(Type type, const T& value) {
    if constexpr (std::is_same_v<T, std::string>)
      text(value);
    else if constexpr (std::is_same_v<T, bool>)
      number(static_cast<uint8_t>(value));
    else if (type == kU32)
      number(static_cast<uint32_t>(value));
    else if (type == kI32)
      number(static_cast<int32_t>(value));
    else if (type == kF32)
      number(static_cast<float>(value));
    else
      number(value);
  }

  template <class T>
  void scalar(const T& value) {
    const Type type = type_of(std::span<const T>(&value, 1));
    number(uint32_t{type});
    write(type, value);
  }
  template <class T>
  void array(const std::vector<T>& items) {
    Type type = kBool;
    if constexpr (!std::is_same_v<T, bool>) type = type_of(std::span<const T>(items));
    number(uint32_t{kArray});
    number(uint32_t{type});
    number(uint64_t{items.size()});
    for (const auto& item : items) write(type, static_cast<const T&>(item));
  }
};

Status put_value(Writer& out, const std::string& key, const MetaValue& value) {
  if (std::holds_alternative<std::monostate>(value.value))
    return fail(ErrorCode::kGgufMetadata, "key '{}' has no value to write", key);
  out.text(key);
  std::visit(
      [&](const auto& held) {
        using T = std::decay_t<decltype(held)>;
        if constexpr (std::is_same_v<T, MetaArray>) {
          std::visit([&](const auto& items) { out.array(items); }, held);
        } else if constexpr (!std::is_same_v<T, std::monostate>) {
          out.scalar(held);
        }
      },
      value.value);
  return {};
}

Result<uint64_t> byte_length(const OutGgufTensor& t) {
  const BlockTypeInfo& type = info(t.type);
  const auto elements = t.shape.empty() ? std::nullopt : checked_product(t.shape);
  if (!elements || *elements <= 0)
    return fail(ErrorCode::kGgufTensor, "tensor '{}' has shape [{}], which cannot be written", t.name,
                fmt::join(t.shape, ", "));
  if (type.gguf_id == kNoGgufId)
    return fail(ErrorCode::kGgufTensor, "tensor '{}' has type {}, which GGUF has no id for", t.name, type.name);
  if (t.shape.back() % type.block_elements != 0)
    return fail(ErrorCode::kGgufTensor, "tensor '{}': rows of {} are no whole blocks of {}, {} elements each", t.name,
                t.shape.back(), type.name, type.block_elements);
  const auto bytes = checked_mul(*elements / type.block_elements, type.block_bytes);
  if (!bytes) return fail(ErrorCode::kGgufTensor, "tensor '{}': its size overflows", t.name);
  return static_cast<uint64_t>(*bytes);
}

}  // namespace

Result<GgufLayout> layout_gguf(const std::map<std::string, MetaValue, std::less<>>& metadata,
                               std::span<const OutGgufTensor> tensors) {
  Writer out;
  out.bytes = "GGUF";
  out.number(uint32_t{3});
  out.number(uint64_t{tensors.size()});
  out.number(uint64_t{metadata.size()});
  for (const auto& [key, value] : metadata) HR_TRY_STATUS(put_value(out, key, value));
  GgufLayout layout;
  std::unordered_set<std::string_view> names;
  uint64_t end = 0;
  for (const OutGgufTensor& t : tensors) {
    if (!names.insert(t.name).second) return fail(ErrorCode::kGgufTensor, "two tensors are named '{}'", t.name);
    HR_TRY(const uint64_t length, byte_length(t));
    out.text(t.name);
    out.number(static_cast<uint32_t>(t.shape.size()));
    for (size_t d = t.shape.size(); d-- > 0;) out.number(static_cast<uint64_t>(t.shape[d]));
    out.number(info(t.type).gguf_id);
    out.number(end);
    layout.offsets_bytes.push_back(end);
    layout.lengths_bytes.push_back(length);
    const auto next = checked_add(end, length);
    const auto padded = next ? checked_align(*next, kAlignment) : std::nullopt;
    if (!padded) return fail(ErrorCode::kGgufTensor, "tensor '{}': the file's size overflows", t.name);
    end = *padded;
  }
  out.bytes.resize(*checked_align(out.bytes.size(), kAlignment));
  for (uint64_t& offset : layout.offsets_bytes) offset += out.bytes.size();
  const auto total = checked_add(end, uint64_t{out.bytes.size()});
  if (!total) return fail(ErrorCode::kGgufTensor, "the file's size overflows");
  layout.total_bytes = *total;
  layout.header_bytes = std::move(out.bytes);
  return layout;
}

}  // namespace headrace
