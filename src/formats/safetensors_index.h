// model.safetensors.index.json: which tensor is in which shard.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headrace {

struct SafetensorsIndex {
  // Tensor -> shard, a plain file name. As it was parsed: a copy of 100,000 names would cost more than the file
  // justifies.
  nlohmann::json::object_t weight_map;
  std::set<std::string, std::less<>> shards;
  std::optional<double> total_bytes;  // metadata.total_size
};

// Messages start with `place`. Errors: kSafetensorsSet.
[[nodiscard]] Result<SafetensorsIndex> parse_safetensors_index(std::string_view text, std::string_view place);

}  // namespace headrace
