// model.safetensors.index.json: which tensor is in which shard.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headrace {

struct SafetensorsIndex {
  std::map<std::string, std::string, std::less<>> weight_map;  // tensor -> shard, a plain file name
  std::set<std::string, std::less<>> shards;
  std::optional<double> total_bytes;  // metadata.total_size
};

// Messages start with `place`. Errors: kSafetensorsSet.
[[nodiscard]] Result<SafetensorsIndex> parse_safetensors_index(std::string_view text, std::string_view place);

}  // namespace headrace
