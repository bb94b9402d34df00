#include "formats/config_json.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "base/bounded_json.h"
#include "formats/json_file.h"
#include "formats/names.h"

namespace headrace {

namespace {

using Json = nlohmann::json;
using Metadata = std::map<std::string, MetaValue, std::less<>>;

constexpr uint64_t kMaxFileBytes = uint64_t{16} << 20;  // the largest real ones, with every added token, take 2 MB
constexpr size_t kMaxDumpBytes = 4096;
// What a flattened key costs besides its bytes and its value's.
constexpr size_t kKeyBytes = 160;

struct ConfigRow {
  std::string_view file;
  std::string_view prefix;
  std::span<const std::string_view> only;
  bool required{};
};
constexpr ConfigRow kFiles[] = {
    {.file = kConfigFile, .prefix = "", .only = {}, .required = true},
    {.file = "generation_config.json", .prefix = "generation_config.", .only = {}},
    {.file = "tokenizer_config.json", .prefix = "tokenizer_config.", .only = kTokenizerMembers},
};

template <class T>
std::vector<T> items_as(const Json& list) {
  std::vector<T> out;
  out.reserve(list.size());
  for (const Json& item : list) out.push_back(item.get<T>());
  return out;
}

// The first bytes of the list's JSON, never a part of a character.
std::string dump(const Json& list) {
  std::string text = list.dump();
  if (text.size() <= kMaxDumpBytes) return text;
  size_t end = kMaxDumpBytes;
  while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  return text.substr(0, end) + "...";
}

bool is_large(const Json& number) { return number.is_number_unsigned() && number.get<uint64_t>() > INT64_MAX; }

MetaValue list_value(const Json& list) {
  const auto all = [&list](const auto& is) { return std::ranges::all_of(list, is); };
  if (all([](const Json& i) { return i.is_boolean(); }) && !list.empty()) return {MetaArray(items_as<bool>(list))};
  if (all([](const Json& i) { return i.is_string(); }) && !list.empty())
    return {MetaArray(items_as<std::string>(list))};
  if (all([](const Json& i) { return i.is_number_integer() && !is_large(i); }))
    return {MetaArray(items_as<int64_t>(list))};
  if (all([](const Json& i) { return i.is_number_unsigned(); })) return {MetaArray(items_as<uint64_t>(list))};
  const bool any_float = std::ranges::any_of(list, [](const Json& i) { return i.is_number_float(); });
  if (any_float && all([](const Json& i) { return i.is_number(); })) return {MetaArray(items_as<double>(list))};
  return {dump(list)};
}

// Of everything but objects.
MetaValue value_of(Json& value) {
  if (value.is_boolean()) return {value.get<bool>()};
  if (value.is_string()) return {std::move(value.get_ref<std::string&>())};
  if (is_large(value)) return {value.get<uint64_t>()};
  if (value.is_number_integer()) return {value.get<int64_t>()};
  if (value.is_number()) return {value.get<double>()};
  if (value.is_array()) return list_value(value);
  return {};
}

Status check_key(std::string_view key, std::string_view parent) {
  if (is_key(key) && key.find('.') == std::string_view::npos) return {};
  return fail(ErrorCode::kConfigFile, "{}: key {:?}{} {}", parent, key.substr(0, 60), key.size() > 60 ? "..." : "",
              is_key(key) ? "holds a dot, which would give two keys one name"
                          : "is empty or holds blanks, control characters or letters beyond ASCII");
}

// Dictionaries whose keys are anybody's words: labels of classes, settings of another runtime. Nothing in them is about
// the forward pass of a language model.
constexpr std::string_view kLeftOut[] = {"id2label", "label2id", "transformers.js_config"};

// Object by object, so that no depth of nesting is a depth of calls.
Status flatten(Json root, std::string_view prefix, size_t budget_bytes, Metadata& metadata) {
  std::vector<std::pair<std::string, Json>> open;
  open.emplace_back(prefix, std::move(root));
  while (!open.empty()) {
    auto [start, object] = std::move(open.back());
    open.pop_back();
    for (auto& [name, value] : object.get_ref<Json::object_t&>()) {
      if (std::find(std::begin(kLeftOut), std::end(kLeftOut), name) != std::end(kLeftOut)) continue;
      HR_TRY_STATUS(check_key(name, start.empty() ? "the root" : std::string_view(start).substr(0, start.size() - 1)));
      std::string key = start + name;
      const size_t cost = kKeyBytes + 2 * key.size();
      if (cost > budget_bytes)
        return fail(ErrorCode::kConfigFile, "more keys than a text of this size may hold, '{}' and on",
                    key.substr(0, 60));
      budget_bytes -= cost;
      if (value.is_object() && !value.empty()) {
        open.emplace_back(key + ".", std::move(value));
      } else if (!metadata.try_emplace(key, value.is_object() ? MetaValue{std::string("{}")} : value_of(value))
                      .second) {
        return fail(ErrorCode::kConfigFile, "key '{}' is also given by another file", key);
      }
      value = nullptr;
    }
  }
  return {};
}

}  // namespace

Status flatten_config(std::string_view text, std::string_view place, std::string_view prefix,
                      std::span<const std::string_view> only, Metadata& metadata) {
  HR_TRY(Json root, parse_bounded_json(text, ErrorCode::kConfigFile, place,
                                       {.bytes = kMaxFileBytes, .tree_bytes = text.size() + 6'000'000, .only = only}));
  for (const ConfigRow& row : kFiles)
    if (!row.prefix.empty() && prefix.empty() && root.contains(row.prefix.substr(0, row.prefix.size() - 1)))
      return fail(ErrorCode::kConfigFile, "{}: key '{}' has the name of a file", place,
                  row.prefix.substr(0, row.prefix.size() - 1));
  auto status = flatten(std::move(root), prefix, 2 * text.size() + 4'000'000, metadata);
  if (!status) return fail(std::move(status).error().in(place));
  return {};
}

Result<Metadata> read_configs(const std::string& directory, HeaderHash& hash) {
  Metadata metadata;
  for (const ConfigRow& row : kFiles) {
    const std::string path = (std::filesystem::path(directory) / row.file).string();
    std::error_code error;
    if (!row.required && !std::filesystem::exists(std::filesystem::symlink_status(path, error))) continue;
    HR_TRY(const std::string text, read_json_file(path, kMaxFileBytes, ErrorCode::kConfigFile, hash));
    HR_TRY_STATUS(flatten_config(text, path, row.prefix, row.only, metadata));
  }
  return metadata;
}

}  // namespace headrace
