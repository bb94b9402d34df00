// Reading of a step of a tokenizer.json, member by member.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headrace {

// A JSON object with a "type", whose members are asked for by name. `place` is for messages: "normalizer".
class HfStep {
 public:
  HfStep(const nlohmann::json& json, std::string_view place) : json_(json), place_(place) {}

  // The type, once it is known that this is an object with one. Errors: kConfigValue.
  [[nodiscard]] Result<std::string> type() const;
  // Errors: kConfigUnsupported (a member besides "type" and these).
  [[nodiscard]] Status only(std::initializer_list<std::string_view> members) const;
  // Errors of all: kConfigValue (absent without a default, or of another type).
  [[nodiscard]] Result<bool> boolean(std::string_view name, std::optional<bool> absent = {}) const;
  [[nodiscard]] Result<std::string> text(std::string_view name, std::optional<std::string> absent = {}) const;
  [[nodiscard]] Result<int64_t> integer(std::string_view name, int64_t least, int64_t most) const;
  // Null if it is absent.
  [[nodiscard]] const nlohmann::json& member(std::string_view name) const;
  [[nodiscard]] tl::unexpected<Error> unknown(std::string_view type) const {
    return fail(ErrorCode::kConfigUnsupported, "{}: '{}' is not supported", place_, type);
  }
  [[nodiscard]] const std::string& place() const { return place_; }

 private:
  const nlohmann::json& json_;
  std::string place_;
};

// The steps of a list: those of a Sequence's member `list` one after the other, sequences in sequences too, or the one
// there is; none for null. Errors: kConfigValue; of `add`, which is called with each.
template <class Add>
[[nodiscard]] Status for_each_step(const nlohmann::json& json, std::string_view place, std::string_view list,
                                   const Add& add) {
  if (json.is_null()) return {};
  const HfStep step(json, place);
  HR_TRY(const std::string type, step.type());
  if (type != "Sequence") return add(step, type);
  HR_TRY_STATUS(step.only({list}));
  const nlohmann::json& steps = step.member(list);
  if (!steps.is_array()) return fail(ErrorCode::kConfigValue, "{}: {} is not a list", place, list);
  for (size_t i = 0; i < steps.size(); ++i) {
    HR_TRY_STATUS(for_each_step(steps[i], fmt::format("{}[{}]", place, i), list, add));
  }
  return {};
}

}  // namespace headrace
