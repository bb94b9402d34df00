#include "formats/safetensors_index.h"

#include <utility>

#include "base/bounded_json.h"
#include "formats/names.h"

namespace headrace {

namespace {

using Json = nlohmann::json;

constexpr std::string_view kExtension = ".safetensors";
constexpr size_t kMaxShards = 10'000;  // the largest models have some 200

bool is_shard_name(std::string_view name) {
  constexpr size_t kMaxNameBytes = 255;  // what file systems take
  return name.size() <= kMaxNameBytes && is_tensor_name(name) && name.size() > kExtension.size() &&
         name.ends_with(kExtension) && name.find_first_of("/\\") == std::string_view::npos;
}

Result<SafetensorsIndex> read(Json& root) {
  const auto map = root.find("weight_map");
  if (map == root.end() || !map->is_object() || map->empty())
    return fail(ErrorCode::kSafetensorsSet, "'weight_map' is {}, expected an object with the shard of each tensor",
                map == root.end()  ? "missing"
                : map->is_object() ? "empty"
                                   : map->type_name());
  SafetensorsIndex out;
  for (const auto& [tensor, shard] : map->get_ref<const Json::object_t&>()) {
    if (!is_tensor_name(tensor))
      return fail(ErrorCode::kSafetensorsSet, "a tensor's name {:?} is empty or holds control characters",
                  tensor.substr(0, 60));
    if (!shard.is_string())
      return fail(ErrorCode::kSafetensorsSet, "tensor '{}': its shard is a {}, expected a file's name",
                  tensor.substr(0, 200), shard.type_name());
    const auto& name = shard.get_ref<const std::string&>();
    if (!is_shard_name(name))
      return fail(ErrorCode::kSafetensorsSet,
                  "tensor '{}': its shard is {:?}, expected the name of a .safetensors file of the "
                  "same directory",
                  tensor.substr(0, 200), name.substr(0, 200));
    out.shards.insert(name);
    if (out.shards.size() > kMaxShards)
      return fail(ErrorCode::kSafetensorsSet, "more than the {} shards that are accepted", kMaxShards);
  }
  out.weight_map = std::move(map->get_ref<Json::object_t&>());
  const auto metadata = root.find("metadata");
  if (metadata == root.end() || !metadata->is_object()) return out;
  const auto total = metadata->find("total_size");
  if (total != metadata->end() && total->is_number()) out.total_bytes = total->get<double>();
  return out;
}

}  // namespace

Result<SafetensorsIndex> parse_safetensors_index(std::string_view text, std::string_view place) {
  HR_TRY(Json root, parse_bounded_json(text, ErrorCode::kSafetensorsSet, place));
  auto out = read(root);
  if (!out) return fail(std::move(out).error().in(place));
  return out;
}

}  // namespace headrace
