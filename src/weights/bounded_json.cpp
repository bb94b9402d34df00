#include "weights/bounded_json.h"

#include <functional>
#include <set>
#include <string>
#include <vector>

namespace headrace {
namespace {

using Json = nlohmann::json;

// Commas and brackets count the values; strings are skipped. Returns what is too large, or "".
std::string exceeds(std::string_view text, const JsonLimits& limits) {
  if (text.size() > limits.bytes) return fmt::format("{} bytes, more than the {} allowed", text.size(), limits.bytes);
  size_t depth = 0;
  size_t values = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    in_string = c == '"';
    if (c == '[' || c == '{') ++depth;
    if ((c == ']' || c == '}') && depth > 0) --depth;
    if (c == ',' || c == '[' || c == '{') ++values;
    if (depth > limits.depth) return fmt::format("nested deeper than {} levels", limits.depth);
    if (values > limits.values) return fmt::format("more than {} values", limits.values);
  }
  return {};
}

// nlohmann keeps the last of two equal keys in silence; the callback sees both.
class DuplicateKeys {
 public:
  bool operator()(int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key && !open_.back().insert(parsed.get<std::string>()).second && first_.empty())
      first_ = parsed.get<std::string>();
    return true;
  }
  [[nodiscard]] const std::string& first() const { return first_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string first_;
};

}  // namespace

Result<Json> parse_bounded_json(std::string_view text, ErrorCode code, std::string_view place,
                                const JsonLimits& limits) {
  if (const std::string excess = exceeds(text, limits); !excess.empty()) return fail(code, "{}: {}", place, excess);
  DuplicateKeys duplicates;
  Json root;
  try {
    root = Json::parse(text.begin(), text.end(), std::ref(duplicates));
  } catch (const Json::parse_error& e) {
    return fail(code, "{}: not JSON, byte {}", place, e.byte);
  } catch (const Json::out_of_range&) {
    return fail(code, "{}: a number is out of range", place);
  }
  if (!duplicates.first().empty())
    return fail(code, "{}: key '{}' is repeated in one object", place, duplicates.first().substr(0, 60));
  if (!root.is_object()) return fail(code, "{}: not a JSON object", place);
  return root;
}

}  // namespace headrace
