#include "tokenizer/hf_member.h"

#include <algorithm>

namespace headrace {

Result<std::string> HfStep::type() const {
  if (!json_.is_object()) return fail(ErrorCode::kConfigValue, "{}: not an object", place_);
  return text("type");
}

Status HfStep::only(std::initializer_list<std::string_view> members) const {
  for (const auto& [name, value] : json_.items())
    if (name != "type" && std::ranges::find(members, name) == members.end())
      return fail(ErrorCode::kConfigUnsupported, "{}: member '{}' of '{}' is not supported", place_, name,
                  json_.value("type", ""));
  return {};
}

const nlohmann::json& HfStep::member(std::string_view name) const {
  static const nlohmann::json kNull;
  const auto it = json_.find(name);
  return it == json_.end() ? kNull : *it;
}

Result<bool> HfStep::boolean(std::string_view name, std::optional<bool> absent) const {
  const auto& value = member(name);
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_null() && absent) return *absent;
  return fail(ErrorCode::kConfigValue, "{}: {} is {}, expected true or false", place_, name, value.type_name());
}

Result<std::string> HfStep::text(std::string_view name, std::optional<std::string> absent) const {
  const auto& value = member(name);
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null() && absent) return *std::move(absent);
  return fail(ErrorCode::kConfigValue, "{}: {} is {}, expected a string", place_, name, value.type_name());
}

Result<int64_t> HfStep::integer(std::string_view name, int64_t least, int64_t most) const {
  const auto& value = member(name);
  if (value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX)) {
    const auto number = value.get<int64_t>();
    if (number >= least && number <= most) return number;
  }
  return fail(ErrorCode::kConfigValue, "{}: {} is no integer from {} to {}", place_, name, least, most);
}

}  // namespace headrace
