#include "tokenizer/hf_json.h"

#include <cmath>

namespace headrace {
namespace {

using Json = nlohmann::json;

constexpr size_t kMostBytes = size_t{64} << 20;
constexpr size_t kMostDepth = 16;
constexpr size_t kMostValues = 1'000'000;  // outside the long lists: real files have some 100,000, most in added_tokens
constexpr size_t kMostPieces = 400'000;
constexpr size_t kMostMerges = 1'000'000;

// Every handler returns false to stop.
class Reader final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return value(nullptr); }
  bool boolean(bool v) override { return value(v); }
  bool number_integer(number_integer_t v) override { return number(v, static_cast<double>(v)); }
  bool number_unsigned(number_unsigned_t v) override { return number(v, static_cast<double>(v)); }
  bool number_float(number_float_t v, const string_t& /*text*/) override { return number(v, v); }
  bool string(string_t& v) override {
    if (list_ == List::kVocabulary) return vocabulary_string(v);
    if (list_ == List::kMerges) return merge_string(v);
    return value(std::move(v));
  }
  bool binary(binary_t& /*v*/) override { return stop(ErrorCode::kConfigFile, "not JSON"); }
  bool start_object(size_t /*members*/) override { return open(Json::object()); }
  bool start_array(size_t /*items*/) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    if (list_ == List::kVocabulary) {
      out_.vocabulary.emplace_back(std::move(name), std::nan(""));
      return within(out_.vocabulary.size(), kMostPieces, "model.vocab");
    }
    if (list_ == List::kMerges)
      return stop(ErrorCode::kConfigValue, "model.merges: an object, expected pairs of pieces");
    const auto [member, fresh] = open_.back()->get_ref<Json::object_t&>().emplace(std::move(name), nullptr);
    if (!fresh) return stop(ErrorCode::kConfigFile, fmt::format("key '{}' is repeated in one object", member->first));
    member_ = &member->second;
    last_key_ = member->first;
    return true;
  }
  bool parse_error(size_t position, const std::string& /*token*/, const nlohmann::detail::exception& /*e*/) override {
    return stop(ErrorCode::kConfigFile, fmt::format("not JSON, byte {}", position));
  }

  [[nodiscard]] const Error& fault() const { return fault_; }
  [[nodiscard]] HfTokenizerJson take() { return std::move(out_); }

 private:
  enum class List : uint8_t { kNone, kVocabulary, kMerges };

  bool stop(ErrorCode code, std::string what) {
    fault_ = {.code = code, .message = std::move(what)};
    return false;
  }
  bool within(size_t count, size_t most, std::string_view what) {
    return count <= most || stop(ErrorCode::kConfigValue, fmt::format("{}: more than {} items", what, most));
  }

  template <class T>
  Json* place(T&& v) {
    if (++values_ > kMostValues) {
      stop(ErrorCode::kConfigFile, fmt::format("more than {} values", kMostValues));
      return nullptr;
    }
    if (open_.empty()) return &(out_.root = std::forward<T>(v));
    if (open_.back()->is_object()) return &(*member_ = std::forward<T>(v));
    return &open_.back()->get_ref<Json::array_t&>().emplace_back(std::forward<T>(v));
  }
  template <class T>
  bool value(T&& v) {
    if (list_ != List::kNone) return stop(ErrorCode::kConfigValue, wrong_item());
    return place(std::forward<T>(v)) != nullptr;
  }
  template <class T>
  bool number(T v, double as_double) {
    if (list_ != List::kVocabulary) return value(v);
    if (out_.vocabulary.empty() || !std::isnan(out_.vocabulary.back().second) || !std::isfinite(as_double) ||
        depth_in_list_ != (out_.scored ? 2 : 1))
      return stop(ErrorCode::kConfigValue, wrong_item());
    out_.vocabulary.back().second = as_double;
    return true;
  }
  [[nodiscard]] std::string wrong_item() const {
    return list_ == List::kVocabulary
               ? fmt::format("model.vocab: item {} is neither a piece with its id nor a piece with its score",
                             out_.vocabulary.size())
               : fmt::format("model.merges: item {} is no pair of pieces", out_.merges.size() / 2);
  }
  bool vocabulary_string(string_t& v) {
    if (!out_.scored || depth_in_list_ != 2 || item_strings_++ != 0) return stop(ErrorCode::kConfigValue, wrong_item());
    out_.vocabulary.emplace_back(std::move(v), std::nan(""));
    return within(out_.vocabulary.size(), kMostPieces, "model.vocab");
  }
  bool merge_string(string_t& v) {
    if (depth_in_list_ == 2) {
      if (item_strings_++ == 2) return stop(ErrorCode::kConfigValue, wrong_item());
      out_.merges.push_back(std::move(v));
    } else {
      const size_t space = v.find(' ');
      if (space == std::string::npos || v.find(' ', space + 1) != std::string::npos)
        return stop(ErrorCode::kConfigValue, wrong_item());
      out_.merges.push_back(v.substr(0, space));
      out_.merges.push_back(v.substr(space + 1));
    }
    return within(out_.merges.size() / 2, kMostMerges, "model.merges");
  }

  bool open(Json container) {
    if (list_ != List::kNone) {
      if (++depth_in_list_ > 2 || !container.is_array() || (list_ == List::kVocabulary && !out_.scored))
        return stop(ErrorCode::kConfigValue, wrong_item());
      item_strings_ = 0;
      return true;
    }
    if (open_.size() == 2 && in_model_ && (last_key_ == "vocab" || last_key_ == "merges")) {
      list_ = last_key_ == "vocab" ? List::kVocabulary : List::kMerges;
      out_.scored |= list_ == List::kVocabulary && container.is_array();
      depth_in_list_ = 1;
      return true;
    }
    if (open_.size() == kMostDepth)
      return stop(ErrorCode::kConfigFile, fmt::format("nested deeper than {} levels", kMostDepth));
    if (open_.size() == 1) in_model_ = last_key_ == "model" && open_.back()->is_object();
    Json* at = place(std::move(container));
    if (at != nullptr) open_.push_back(at);
    return at != nullptr;
  }
  bool close() {
    if (list_ == List::kNone) {
      open_.pop_back();
      return true;
    }
    if (depth_in_list_ == 2 && list_ == List::kMerges && item_strings_ != 2)
      return stop(ErrorCode::kConfigValue, wrong_item());
    if (list_ == List::kVocabulary && !out_.vocabulary.empty() && std::isnan(out_.vocabulary.back().second))
      return stop(ErrorCode::kConfigValue, wrong_item());
    if (--depth_in_list_ == 0) list_ = List::kNone;
    return true;
  }

  HfTokenizerJson out_;
  std::vector<Json*> open_;
  Json* member_ = nullptr;
  std::string last_key_;
  bool in_model_ = false;
  List list_ = List::kNone;
  size_t depth_in_list_ = 0;
  size_t item_strings_ = 0;
  size_t values_ = 0;
  Error fault_;
};

}  // namespace

Result<HfTokenizerJson> parse_hf_tokenizer_json(std::string_view text, std::string_view place) {
  if (text.size() > kMostBytes)
    return fail(ErrorCode::kConfigFile, "{}: {} bytes, more than the {} allowed", place, text.size(), kMostBytes);
  if (const size_t nul = text.find('\0'); nul != std::string_view::npos)
    return fail(ErrorCode::kConfigFile, "{}: not JSON, byte {}", place, nul);
  Reader reader;
  if (!Json::sax_parse(text.begin(), text.end(), &reader)) return fail(Error(reader.fault()).in(place));
  HfTokenizerJson out = reader.take();
  if (!out.root.is_object()) return fail(ErrorCode::kConfigFile, "{}: not a JSON object", place);
  return out;
}

namespace {

// The members of an object, each with a comma behind it, after the brace that opens it.
std::string opened(const Json& object) {
  std::string out = "{";
  for (const auto& [name, value] : object.items()) out += fmt::format("{}: {},", Json(name).dump(), value.dump());
  return out;
}

}  // namespace

std::string to_text(const HfTokenizerJson& json) {
  Json root = json.root;
  Json model = root["model"];
  for (const char* list : {"vocab", "merges"}) model.erase(list);
  root.erase("model");
  std::string out = opened(root) + "\n\"model\": " + opened(model);
  out += fmt::format("\n\"vocab\": {}", json.scored ? "[" : "{");
  const char* separator = "\n";
  for (const auto& [piece, number] : json.vocabulary) {
    out += json.scored ? fmt::format("{}[{}, {}]", separator, Json(piece).dump(), number)
                       : fmt::format("{}{}: {}", separator, Json(piece).dump(), static_cast<int64_t>(number));
    separator = ",\n";
  }
  out += json.scored ? "\n]" : "\n}";
  separator = ",\n\"merges\": [\n";
  for (size_t i = 0; i + 1 < json.merges.size(); i += 2) {
    out += fmt::format("{}[{}, {}]", separator, Json(json.merges[i]).dump(), Json(json.merges[i + 1]).dump());
    separator = ",\n";
  }
  if (!json.scored) out += json.merges.empty() ? ",\n\"merges\": []" : "\n]";
  return out + "}}\n";
}

}  // namespace headrace
