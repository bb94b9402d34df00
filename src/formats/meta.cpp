#include "formats/meta.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace headrace {

namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};
template <class... F>
Overloaded(F...) -> Overloaded<F...>;

constexpr size_t kShownBytes = 60;
constexpr size_t kShownItems = 8;

const MetaValue* find(const Checkpoint& checkpoint, std::string_view key) {
  const auto it = checkpoint.metadata.find(key);
  return it == checkpoint.metadata.end() ? nullptr : &it->second;
}

// Lossless conversions; nullopt where something would be lost or the kinds differ.
std::optional<int64_t> to_int(int64_t value) { return value; }
std::optional<int64_t> to_int(uint64_t value) {
  if (value > INT64_MAX) return std::nullopt;
  return static_cast<int64_t>(value);
}
std::optional<int64_t> to_int(double value) {
  if (!(value >= -0x1p63 && value < 0x1p63) || value != std::trunc(value)) return std::nullopt;
  return static_cast<int64_t>(value);
}
std::optional<int64_t> to_int(int8_t value) { return value; }
std::optional<int64_t> to_int(uint8_t value) { return value; }
template <class T>
std::optional<int64_t> to_int(const T&) {
  return std::nullopt;
}

std::optional<double> to_float(double value) { return value; }
std::optional<double> to_float(int64_t value) {
  const auto out = static_cast<double>(value);
  if (to_int(out) != value) return std::nullopt;
  return out;
}
std::optional<double> to_float(uint64_t value) {
  const auto out = static_cast<double>(value);
  if (out >= 0x1p64 || static_cast<uint64_t>(out) != value) return std::nullopt;
  return out;
}
std::optional<double> to_float(int8_t value) { return value; }
std::optional<double> to_float(uint8_t value) { return value; }
template <class T>
std::optional<double> to_float(const T&) {
  return std::nullopt;
}

template <class T>
constexpr std::string_view kTypeName = "nothing";
template <>
constexpr std::string_view kTypeName<bool> = "bool";
template <>
constexpr std::string_view kTypeName<int64_t> = "integer";
template <>
constexpr std::string_view kTypeName<uint64_t> = "unsigned integer";
template <>
constexpr std::string_view kTypeName<int8_t> = "integer";
template <>
constexpr std::string_view kTypeName<uint8_t> = "unsigned integer";
template <>
constexpr std::string_view kTypeName<double> = "float";
template <>
constexpr std::string_view kTypeName<std::string> = "string";

std::string type_name(const MetaValue& value) {
  return std::visit(Overloaded{[](const MetaArray& array) {
                                 return std::visit(
                                     []<class T>(const std::vector<T>& items) {
                                       return fmt::format("array of {} {}{}", items.size(), kTypeName<T>,
                                                          items.size() == 1 ? "" : "s");
                                     },
                                     array);
                               },
                               []<class T>(const T&) { return std::string(kTypeName<T>); }},
                    value.value);
}

std::string show(bool value) { return value ? "true" : "false"; }
std::string show(int64_t value) { return fmt::format("{}", value); }
std::string show(uint64_t value) { return fmt::format("{}", value); }
std::string show(int8_t value) { return fmt::format("{}", value); }
std::string show(uint8_t value) { return fmt::format("{}", value); }
// The shortest digits that give the number back; most floats of a GGUF are f32.
std::string show(double value) {
  const auto narrow = static_cast<float>(value);
  return static_cast<double>(narrow) == value ? fmt::format("{}", narrow) : fmt::format("{}", value);
}
std::string show(const std::string& value) {
  if (value.size() <= kShownBytes) return fmt::format("{:?}", value);
  return fmt::format("{:?}... ({} bytes)", std::string_view(value).substr(0, kShownBytes), value.size());
}
std::string show(std::monostate) { return "nothing"; }

template <class T>
std::string show(const std::vector<T>& items) {
  std::string out = "[";
  for (size_t i = 0; i < std::min(items.size(), kShownItems); ++i)
    out += fmt::format("{}{}", i == 0 ? "" : ", ", show(static_cast<T>(items[i])));
  return out + (items.size() > kShownItems ? fmt::format(", ...] ({} items)", items.size()) : "]");
}

tl::unexpected<Error> wrong_type(std::string_view key, const MetaValue& value, std::string_view wanted) {
  return fail(ErrorCode::kConfigValue, "key '{}' is {} ({}), expected {}", key, describe(value), type_name(value),
              wanted);
}

// The value under `key` by `convert`, which returns nullopt for what does not fit.
template <class T, class Convert>
Result<std::optional<T>> lookup(const Checkpoint& checkpoint, std::string_view key, std::string_view wanted,
                                const Convert& convert) {
  const MetaValue* value = find(checkpoint, key);
  if (value == nullptr) return std::optional<T>();
  std::optional<T> out = convert(*value);
  if (!out) return wrong_type(key, *value, wanted);
  return out;
}

// All items of an array by `convert`, or nullopt.
template <class T, class Convert>
std::optional<std::vector<T>> convert_items(const MetaValue& value, const Convert& convert) {
  const auto* array = std::get_if<MetaArray>(&value.value);
  if (array == nullptr) return std::nullopt;
  return std::visit(
      [&]<class Item>(const std::vector<Item>& items) -> std::optional<std::vector<T>> {
        std::vector<T> out;
        if constexpr (std::is_same_v<Item, std::string>) {
          if (!items.empty()) return std::nullopt;
        } else {
          out.reserve(items.size());
          for (size_t i = 0; i < items.size(); ++i) {
            const std::optional<T> item = convert(static_cast<Item>(items[i]));  // the cast is for vector<bool>'s proxy
            if (!item) return std::nullopt;
            out.push_back(*item);
          }
        }
        return out;
      },
      *array);
}

template <class T>
std::optional<T> exactly(const MetaValue& value) {
  const auto* held = std::get_if<T>(&value.value);
  return held == nullptr ? std::nullopt : std::optional<T>(*held);
}

}  // namespace

std::optional<int64_t> as_int(const MetaValue& value) {
  return std::visit([](const auto& held) { return to_int(held); }, value.value);
}

std::optional<double> as_float(const MetaValue& value) {
  return std::visit([](const auto& held) { return to_float(held); }, value.value);
}

Result<std::optional<int64_t>> meta_int(const Checkpoint& checkpoint, std::string_view key) {
  return lookup<int64_t>(checkpoint, key, "an integer", as_int);
}

Result<std::optional<double>> meta_float(const Checkpoint& checkpoint, std::string_view key) {
  return lookup<double>(checkpoint, key, "a number", as_float);
}

Result<std::optional<bool>> meta_bool(const Checkpoint& checkpoint, std::string_view key) {
  return lookup<bool>(checkpoint, key, "a bool", exactly<bool>);
}

Result<std::optional<std::string>> meta_string(const Checkpoint& checkpoint, std::string_view key) {
  return lookup<std::string>(checkpoint, key, "a string", exactly<std::string>);
}

const std::string* meta_section(const Checkpoint& checkpoint, std::string_view start) {
  const auto it = checkpoint.metadata.lower_bound(start);
  return it != checkpoint.metadata.end() && it->first.starts_with(start) ? &it->first : nullptr;
}

bool meta_is_array(const Checkpoint& checkpoint, std::string_view key) {
  const MetaValue* value = find(checkpoint, key);
  return value != nullptr && std::holds_alternative<MetaArray>(value->value);
}

std::optional<size_t> meta_array_size(const Checkpoint& checkpoint, std::string_view key) {
  const MetaValue* value = find(checkpoint, key);
  const auto* array = value == nullptr ? nullptr : std::get_if<MetaArray>(&value->value);
  if (array == nullptr) return std::nullopt;
  return std::visit([](const auto& items) { return items.size(); }, *array);
}

Result<std::optional<std::vector<int64_t>>> meta_int_array(const Checkpoint& checkpoint, std::string_view key) {
  const auto convert = [](const auto& item) { return to_int(item); };
  return lookup<std::vector<int64_t>>(checkpoint, key, "an array of integers",
                                      [&](const MetaValue& value) { return convert_items<int64_t>(value, convert); });
}

Result<std::optional<std::vector<double>>> meta_float_array(const Checkpoint& checkpoint, std::string_view key) {
  const auto convert = [](const auto& item) { return to_float(item); };
  return lookup<std::vector<double>>(checkpoint, key, "an array of numbers",
                                     [&](const MetaValue& value) { return convert_items<double>(value, convert); });
}

Result<std::optional<std::vector<bool>>> meta_bool_array(const Checkpoint& checkpoint, std::string_view key) {
  return lookup<std::vector<bool>>(checkpoint, key, "an array of bools", [](const MetaValue& value) {
    const auto* array = std::get_if<MetaArray>(&value.value);
    const auto* items = array == nullptr ? nullptr : std::get_if<std::vector<bool>>(array);
    return items == nullptr ? std::nullopt : std::optional(*items);
  });
}

Result<const std::vector<std::string>*> meta_string_array(const Checkpoint& checkpoint, std::string_view key) {
  const MetaValue* value = find(checkpoint, key);
  if (value == nullptr) return nullptr;
  const auto* array = std::get_if<MetaArray>(&value->value);
  const auto* items = array == nullptr ? nullptr : std::get_if<std::vector<std::string>>(array);
  // An empty array has no item whose type could matter.
  static const std::vector<std::string> kEmpty;
  const bool is_empty = array != nullptr && std::visit([](const auto& any) { return any.empty(); }, *array);
  if (items == nullptr && is_empty) return &kEmpty;
  if (items == nullptr) return wrong_type(key, *value, "an array of strings");
  return items;
}

Result<std::optional<std::vector<int64_t>>> meta_int_each(const Checkpoint& checkpoint, std::string_view key,
                                                          int64_t count) {
  HR_CHECK(count >= 0);
  if (const auto size = meta_array_size(checkpoint, key)) {
    if (*size != static_cast<size_t>(count))
      return fail(ErrorCode::kConfigValue, "key '{}' is an array of {}, expected {} items or one integer", key, *size,
                  count);
    return meta_int_array(checkpoint, key);
  }
  HR_TRY(const auto one, meta_int(checkpoint, key));
  if (!one) return std::optional<std::vector<int64_t>>();
  return std::optional(std::vector<int64_t>(static_cast<size_t>(count), *one));
}

std::string meta_type_name(const Checkpoint& checkpoint, std::string_view key) {
  const MetaValue* value = find(checkpoint, key);
  return value == nullptr ? "absent" : type_name(*value);
}

std::string describe(const MetaValue& value) {
  return std::visit(Overloaded{[](const MetaArray& array) {
                                 return std::visit([](const auto& items) { return show(items); }, array);
                               },
                               [](const auto& held) { return show(held); }},
                    value.value);
}

}  // namespace headrace
