#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "weights/manifest.h"
#include "weights/manifest_fields.h"

namespace headrace {
namespace {

using Json = nlohmann::ordered_json;
using manifest_detail::fields;
using manifest_detail::kValueKindNames;

struct NotFinite {};

// Members, so that every overload sees every other one.
struct Writer {
  Json object = Json::object();

  template <class T>
  void operator()(const char* key, const T& value) {
    object[key] = write(value);
  }

  static Json write(bool v) { return v; }
  static Json write(int64_t v) { return v; }
  static Json write(uint64_t v) { return v; }
  static Json write(const std::string& v) { return v; }
  static Json write(double v) {
    if (!std::isfinite(v)) throw NotFinite{};
    return v;
  }
  static Json write(DType v) { return std::string(name(v)); }
  static Json write(Role v) { return std::string(name(v)); }
  static Json write(ValueKind v) { return std::string(kValueKindNames[static_cast<size_t>(v)]); }
  static Json write(const Dim& v) { return v.is_static() ? Json(v.value()) : Json(to_string(v)); }
  static Json write(const ManifestValue& v) {
    return std::visit([](const auto& item) { return write(item); }, v);
  }
  template <class T>
  static Json write(const std::optional<T>& v) {
    return v ? write(*v) : Json(nullptr);
  }
  template <class T>
  static Json write(const std::vector<T>& v) {
    Json out = Json::array();
    for (const T& item : v) out.push_back(write(item));
    return out;
  }
  template <class T>
  static Json write(const std::map<std::string, T>& v) {
    Json out = Json::object();
    for (const auto& [key, value] : v) out[key] = write(value);
    return out;
  }
  template <class T>
  requires requires(Writer& w, const T& v) { fields(w, v); }
  static Json write(const T& v) {
    Writer writer;
    fields(writer, v);
    return std::move(writer.object);
  }
};

bool is_nested(const Json& value) {
  const auto structured = [](const Json& item) { return item.is_structured(); };
  return value.is_object() ? !value.empty() : value.is_array() && std::any_of(value.begin(), value.end(), structured);
}

// Like nlohmann's dump(2), but what holds no object stays on one line: a parameter is a line, not ten.
void print(const Json& value, int indent, std::string& out) {
  const bool flat = std::none_of(value.begin(), value.end(), is_nested);
  if (!value.is_structured() || value.empty()) {
    out += value.dump();
    return;
  }
  const char* brackets = value.is_object() ? "{}" : "[]";
  const auto line = [&](int spaces) {
    flat ? void() : void(out.append("\n").append(static_cast<size_t>(spaces), ' '));
  };
  out += brackets[0];
  bool first = true;
  for (const auto& [key, item] : value.items()) {
    if (!first) out += flat ? ", " : ",";
    first = false;
    line(indent + 2);
    if (value.is_object()) out += Json(key).dump() + ": ";
    print(item, indent + 2, out);
  }
  line(indent);
  out += brackets[1];
}

}  // namespace

Result<std::string> to_json(const Manifest& manifest) {
  std::vector<std::string> faults;
  manifest_detail::check_manifest(manifest, faults);
  if (!faults.empty()) return fail(merge_faults(ErrorCode::kManifest, std::move(faults)));
  try {
    Json root = Json::object();
    root["format"] = kManifestFormat;
    root["version"] = kManifestVersion;
    const Json body = Writer::write(manifest);
    for (const auto& [key, value] : body.items()) root[key] = value;
    std::string out;
    print(root, 0, out);
    return out + "\n";
  } catch (const NotFinite&) {
    return fail(ErrorCode::kManifest, "manifest: a configuration value or option is not a finite number");
  } catch (const nlohmann::json::type_error& e) {  // dump() of a string that is not UTF-8
    return fail(ErrorCode::kManifest, "manifest: a name cannot be written: {}", e.what());
  }
}

}  // namespace headrace
