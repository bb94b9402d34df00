#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <span>

#include "base/bounded_json.h"
#include "weights/manifest.h"
#include "weights/manifest_fields.h"

namespace headrace {
namespace {

using Json = nlohmann::json;
using manifest_detail::fields;
using manifest_detail::kValueKindNames;

constexpr size_t kMaxFaults = 20;

// Features a manifest may ask for that this version honours.
constexpr std::array<std::string_view, 1> kKnownFeatures{kFeatureGlobals};

class Reader {
 public:
  Reader(const Json& value, std::string path, std::vector<std::string>& faults)
      : value_(value), path_(std::move(path)), faults_(faults) {}

  template <class T>
  void operator()(const char* key, T& out) {
    const auto it = value_.find(key);
    const std::string path = path_.empty() ? key : path_ + "." + key;
    if (it == value_.end()) return fault_at(path, "missing");
    Reader(*it, path, faults_).read(out);
  }

  void read(bool& out) { take(out, value_.is_boolean(), "true or false"); }
  void read(std::string& out) { take(out, value_.is_string(), "a string"); }
  void read(double& out) { take(out, value_.is_number(), "a number"); }
  void read(uint64_t& out) { take(out, value_.is_number_unsigned(), "a whole number, not negative"); }
  void read(int64_t& out) {
    take(out, value_.is_number_integer() && (!value_.is_number_unsigned() || value_.get<uint64_t>() <= INT64_MAX),
         "a whole number");
  }
  void read(DType& out) {
    read_word(out, "a dtype", [](std::string_view word) { return parse_dtype(word); });
  }
  void read(Role& out) { read_enum(out, "a role", kRoleNames); }
  void read(ValueKind& out) { read_enum(out, "data or cache", kValueKindNames); }
  void read(Dim& out) {
    if (value_.is_number_integer()) {
      int64_t number = 0;
      read(number);
      out = number;
    } else if (value_.is_string()) {
      auto dim = parse_dim(value_.get_ref<const std::string&>());
      if (!dim) return fault(dim.error().message);
      out = *std::move(dim);
    } else {
      fault("not a dimension: a whole number, or an expression as a string");
    }
  }
  void read(ManifestValue& out) {
    if (!value_.is_array()) return read_alternative(value_, out, [](const auto& item) { return item; });
    if (value_.empty()) return static_cast<void>(out = std::vector<int64_t>{});
    read_alternative(value_.front(), out, [](const auto& item) { return std::vector{item}; });
  }
  template <class T>
  void read(std::map<std::string, T>& out) {
    if (!value_.is_object()) return fault("not an object");
    for (const auto& [key, item] : value_.items()) Reader(item, path_ + "." + key, faults_).read(out[key]);
  }
  template <class T>
  void read(std::optional<T>& out) {
    if (!value_.is_null()) read(out.emplace());
  }
  template <class T>
  void read(std::vector<T>& out) {
    if (!value_.is_array()) return fault("not an array");
    out.clear();
    // Stops where no more faults are told: items that say nothing must not cost what a whole one does.
    for (size_t i = 0; i < value_.size() && faults_.size() < kMaxFaults; ++i) {
      T item{};
      Reader(value_[i], path_ + "[" + std::to_string(i) + "]", faults_).read(item);
      out.push_back(std::move(item));
    }
  }
  template <class T>
  requires requires(Reader& r, T& v) { fields(r, v); }
  void read(T& out) {
    if (!value_.is_object()) return fault("not an object");
    fields(*this, out);
  }

 private:
  void fault(std::string_view what) { fault_at(path_, what); }
  void fault_at(std::string_view path, std::string_view what) {
    if (faults_.size() < kMaxFaults) faults_.push_back(fmt::format("{}: {}", path, what));
  }
  template <class T>
  void take(T& out, bool fits, std::string_view wanted) {
    if (!fits) return fault(fmt::format("not {}", wanted));
    out = value_.get<T>();
  }
  template <class T, class F>
  void read_word(T& out, std::string_view wanted, F parse) {
    if (!value_.is_string()) return fault(fmt::format("not a string naming {}", wanted));
    const auto& word = value_.get_ref<const std::string&>();
    if (const auto value = parse(std::string_view(word))) return static_cast<void>(out = *value);
    fault(fmt::format("'{}' is not {}", word.substr(0, 60), wanted));
  }
  template <class T>
  void read_enum(T& out, std::string_view wanted, std::span<const std::string_view> names) {
    read_word(out, wanted, [names](std::string_view word) -> std::optional<T> {
      const auto it = std::find(names.begin(), names.end(), word);
      return it == names.end() ? std::nullopt : std::optional(static_cast<T>(it - names.begin()));
    });
  }
  // Chooses the alternative by the JSON type of `sample`; `wrap` makes a vector type of it for arrays.
  template <class F>
  void read_alternative(const Json& sample, ManifestValue& out, F wrap) {
    const auto as = [&](auto prototype) {
      auto value = wrap(prototype);
      read(value);
      out = std::move(value);
    };
    if (sample.is_boolean()) return as(bool{});
    if (sample.is_string()) return as(std::string{});
    const auto is_float = [](const Json& item) { return item.is_number_float(); };
    if (value_.is_array() && std::any_of(value_.begin(), value_.end(), is_float)) return as(double{});
    if (sample.is_number_integer()) return as(int64_t{});
    if (sample.is_number_float()) return as(double{});
    fault("not a value: true or false, a number, a string or an array of one of them");
  }

  const Json& value_;
  std::string path_;
  std::vector<std::string>& faults_;
};

// What decides whether the rest can be understood, before the rest is looked at.
Status check_head(const Json& root) {
  const auto format = root.find("format");
  if (format == root.end() || *format != kManifestFormat)
    return fail(ErrorCode::kManifest, "manifest: format is not \"{}\"", kManifestFormat);
  const auto version = root.find("version");
  if (version == root.end() || !version->is_number_integer())
    return fail(ErrorCode::kManifest, "manifest: version is missing or not a whole number");
  if (*version != kManifestVersion)
    return fail(ErrorCode::kManifest, "manifest: version {}, this build reads version {}", version->dump(),
                kManifestVersion);
  const auto features = root.find("requires");
  if (features == root.end() || !features->is_array()) return {};  // reported with the other fields
  for (const auto& feature : *features) {
    if (!feature.is_string()) continue;
    const auto& word = feature.get_ref<const std::string&>();
    if (std::find(kKnownFeatures.begin(), kKnownFeatures.end(), word) == kKnownFeatures.end())
      return fail(ErrorCode::kManifest, "manifest: requires '{}', which this build does not know", word.substr(0, 60));
  }
  return {};
}

}  // namespace

Result<Manifest> from_json(std::string_view text) {
  HR_TRY(const Json root, parse_bounded_json(text, ErrorCode::kManifest, "manifest"));
  HR_TRY_STATUS(check_head(root));
  std::vector<std::string> faults;
  Manifest manifest;
  Reader(root, "", faults).read(manifest);
  if (faults.empty()) manifest_detail::check_manifest(manifest, faults);
  if (!faults.empty()) return fail(merge_faults(ErrorCode::kManifest, std::move(faults)).in("manifest"));
  return manifest;
}

}  // namespace headrace
