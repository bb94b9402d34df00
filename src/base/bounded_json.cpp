#include "base/bounded_json.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace headrace {
namespace {

using Json = nlohmann::json;

// Upper bounds of what a tree costs, allocator included: an array grows by doubling, so that for a moment three places
// are held for each item; a member is a node of a map.
constexpr size_t kItemBytes = 3 * sizeof(Json);
constexpr size_t kMemberBytes = 112;
constexpr size_t kContainerBytes = 64;
constexpr size_t kStringBytes = 48;

// Builds the tree from events. nlohmann's own builder cannot stop half-way, keeps the last of two equal keys in
// silence, and with a callback takes quadratic time for an array of objects. Every handler returns false to stop.
class TreeBuilder final : public nlohmann::json_sax<Json> {
 public:
  TreeBuilder(const JsonLimits& limits, size_t tree_bytes) : limits_(limits), budget_bytes_(tree_bytes) {}

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return add(value); }
  bool string(string_t& value) override {
    const bool kept = left_out_ == 0 && !leave_out_next_;
    return (!kept || spend(kStringBytes + value.size())) && add(std::move(value));
  }
  bool binary(binary_t& /*value*/) override { return stop("not JSON"); }

  bool start_object(size_t /*members*/) override { return open(Json::object()); }
  bool start_array(size_t /*items*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (left_out_ != 0) return true;
    if (open_.size() == 1 && !limits_.only.empty() && std::ranges::find(limits_.only, name) == limits_.only.end()) {
      leave_out_next_ = true;
      return true;
    }
    if (!spend(kMemberBytes + name.size())) return false;
    const auto [member, fresh] = open_.back()->get_ref<Json::object_t&>().emplace(std::move(name), nullptr);
    if (!fresh) return stop(fmt::format("key '{}' is repeated in one object", member->first.substr(0, 60)));
    member_ = &member->second;
    return true;
  }

  bool parse_error(size_t position, const std::string& /*token*/, const nlohmann::detail::exception& e) override {
    constexpr int kNumberOverflow = 406;
    return stop(e.id == kNumberOverflow ? "a number is out of range" : fmt::format("not JSON, byte {}", position));
  }

  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] Json take() { return std::move(root_); }

 private:
  bool stop(std::string fault) {
    fault_ = std::move(fault);
    return false;
  }
  bool spend(size_t bytes) {
    if (bytes > budget_bytes_) return stop("more values than a text of this size may hold");
    budget_bytes_ -= bytes;
    return true;
  }
  // Puts a value where the next one belongs. Returns its place, null after a fault.
  template <class T>
  Json* place(T&& value) {
    if (++values_ > limits_.values) {
      stop(fmt::format("more than {} values", limits_.values));
      return nullptr;
    }
    if (open_.empty()) return &(root_ = std::forward<T>(value));
    if (open_.back()->is_object()) return &(*member_ = std::forward<T>(value));
    if (!spend(kItemBytes)) return nullptr;
    return &open_.back()->get_ref<Json::array_t&>().emplace_back(std::forward<T>(value));
  }
  template <class T>
  bool add(T&& value) {
    if (left_out_ != 0 || std::exchange(leave_out_next_, false)) return true;
    return place(std::forward<T>(value)) != nullptr;
  }
  bool open(Json container) {
    if (left_out_ != 0 || std::exchange(leave_out_next_, false)) {
      if (open_.size() + left_out_ == limits_.depth) return stop(too_deep());
      ++left_out_;
      return true;
    }
    if (open_.size() == limits_.depth) return stop(too_deep());
    if (!spend(kContainerBytes)) return false;
    Json* at = place(std::move(container));
    if (at != nullptr) open_.push_back(at);  // stays where it is: only the innermost container grows
    return at != nullptr;
  }
  [[nodiscard]] std::string too_deep() const { return fmt::format("nested deeper than {} levels", limits_.depth); }
  bool close() {
    if (left_out_ != 0) {
      --left_out_;
      return true;
    }
    open_.pop_back();
    return true;
  }

  const JsonLimits& limits_;
  size_t budget_bytes_;
  Json root_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;  // the value of the key read last
  size_t values_ = 0;
  bool leave_out_next_ = false;  // the value of the root's key read last is not wanted
  size_t left_out_ = 0;          // containers open inside such a value
  std::string fault_;
};

}  // namespace

Result<Json> parse_bounded_json(std::string_view text, ErrorCode code, std::string_view place,
                                const JsonLimits& limits) {
  if (text.size() > limits.bytes)
    return fail(code, "{}: {} bytes, more than the {} allowed", place, text.size(), limits.bytes);
  // The parser takes a NUL byte for the end of the text.
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
    return fail(code, "{}: not JSON, byte {}", place, nul);
  TreeBuilder builder(limits, limits.tree_bytes != 0 ? limits.tree_bytes : 2 * text.size() + 10'000'000);
  if (!Json::sax_parse(text.begin(), text.end(), &builder)) return fail(code, "{}: {}", place, builder.fault());
  Json root = builder.take();
  if (!root.is_object()) return fail(code, "{}: not a JSON object", place);
  return root;
}

}  // namespace headrace
