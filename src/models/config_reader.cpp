#include "models/config_reader.h"

#include <algorithm>
#include <cmath>

#include "formats/meta.h"

namespace headrace {

namespace {

// Beyond any model that exists, and small enough that products of two counts stay far from overflow.
constexpr int64_t kLargestCount = int64_t{1} << 28;

// 1 and 1.0 are one value.
bool same(const MetaValue& a, const MetaValue& b) {
  const auto x = as_float(a);
  const auto y = as_float(b);
  return x && y ? *x == *y : a == b;
}

}  // namespace

template <class T>
std::optional<T> ConfigReader::read(Result<std::optional<T>> value) {
  if (value) return *std::move(value);
  fault(value.error().code, "{}", value.error().message);
  return std::nullopt;
}

int64_t ConfigReader::checked_count(std::string_view name, int64_t value) {
  if (value >= 1 && value <= kLargestCount) return value;
  fault(ErrorCode::kConfigValue, "key '{}' is {}, expected 1 to {}", key(name), value, kLargestCount);
  return 1;
}

double ConfigReader::checked_positive(std::string_view name, double value) {
  // As f32, which is what a program holds.
  const auto narrow = static_cast<float>(value);
  if (std::isnormal(narrow) && narrow > 0) return value;
  fault(ErrorCode::kConfigValue, "key '{}' is {}, expected a finite number above 0", key(name), value);
  return 1;
}

int64_t ConfigReader::count(std::string_view field, std::string_view name) {
  seen_.insert(key(name));
  const size_t before = faults_.size();
  const auto value = read(meta_int(source_.checkpoint(), key(name)));
  if (!value) {
    if (faults_.size() == before) fault(ErrorCode::kConfigMissing, "key '{}' is missing", key(name));
    return 1;
  }
  record(field, fmt::format("{}", *value), origin(name));
  return checked_count(name, *value);
}

int64_t ConfigReader::count_or(std::string_view field, std::string_view name, int64_t fallback, std::string_view why) {
  seen_.insert(key(name));
  const auto value = read(meta_int(source_.checkpoint(), key(name)));
  if (value) {
    record(field, fmt::format("{}", *value), origin(name));
    return checked_count(name, *value);
  }
  record(field, fmt::format("{}", fallback), fmt::format("default: {} (key {} is absent)", why, key(name)));
  return fallback;
}

double ConfigReader::positive(std::string_view field, std::string_view name) {
  seen_.insert(key(name));
  const size_t before = faults_.size();
  const auto value = read(meta_float(source_.checkpoint(), key(name)));
  if (!value) {
    if (faults_.size() == before) fault(ErrorCode::kConfigMissing, "key '{}' is missing", key(name));
    return 1;
  }
  record(field, fmt::format("{}", *value), origin(name));
  return checked_positive(name, *value);
}

double ConfigReader::positive_or(std::string_view field, std::string_view name, double fallback, std::string_view why) {
  seen_.insert(key(name));
  const auto value = read(meta_float(source_.checkpoint(), key(name)));
  if (value) {
    record(field, fmt::format("{}", *value), origin(name));
    return checked_positive(name, *value);
  }
  warnings_.add("key '{}' is absent: {} is used, {}", key(name), fallback, why);
  record(field, fmt::format("{}", fallback), fmt::format("default: {} (key {} is absent)", why, key(name)));
  return fallback;
}

std::vector<int64_t> ConfigReader::count_each(std::string_view field, std::string_view name, int64_t layers,
                                              int64_t fallback, std::string_view why) {
  seen_.insert(key(name));
  auto values = read(meta_int_each(source_.checkpoint(), key(name), layers));
  if (!values) {
    record(field, fmt::format("{}", fallback), fmt::format("default: {} (key {} is absent)", why, key(name)));
    std::vector<int64_t> all(static_cast<size_t>(layers), fallback);
    return all;
  }
  for (int64_t& value : *values) value = checked_count(name, value);
  const bool uniform = std::adjacent_find(values->begin(), values->end(), std::not_equal_to<>()) == values->end();
  record(field, uniform ? fmt::format("{}", values->front()) : fmt::format("[{}]", fmt::join(*values, ", ")),
         origin(name));
  return *std::move(values);
}

std::optional<std::string> ConfigReader::text(std::string_view name) {
  seen_.insert(key(name));
  return read(meta_string(source_.checkpoint(), key(name)));
}

bool ConfigReader::flag_or(std::string_view field, std::string_view name, bool fallback, std::string_view why) {
  seen_.insert(key(name));
  const auto value = read(meta_bool(source_.checkpoint(), key(name)));
  record(field, value.value_or(fallback) ? "yes" : "no",
         value ? origin(name) : fmt::format("default: {} (key {} is absent)", why, key(name)));
  return value.value_or(fallback);
}

void ConfigReader::only(std::string_view name, double value) {
  seen_.insert(key(name));
  const auto found = read(meta_float(source_.checkpoint(), key(name)));
  if (found && *found != value)
    fault(ErrorCode::kConfigUnsupported, "key '{}' is {}, which changes the result and is not supported", key(name),
          *found);
}

void ConfigReader::record(std::string_view field, std::string value, std::string origin) {
  entries_.push_back({.name = std::string(field), .value = std::move(value), .origin = std::move(origin)});
}

bool ConfigReader::has_section(std::string_view section) const {
  return meta_section(source_.checkpoint(), key(section)) != nullptr;
}

std::string ConfigReader::origin(std::string_view name) const {
  const std::string spelling = key(name);
  if (!source_.is_default(spelling)) return fmt::format("key {}", spelling);
  return fmt::format("default of {} (key {} is absent)", source_.dialect()->class_name, spelling);
}

// Keys with a single supported value.
void ConfigReader::check_only(const HfValue& only) {
  const std::string spelling = key(only.key);
  if (!seen_.insert(spelling).second) return;
  const auto it = metadata().find(spelling);
  if (it == metadata().end() || same(it->second, meta_value(only))) return;
  fault(ErrorCode::kConfigUnsupported, "key '{}' is {}, expected {}", spelling, describe(it->second),
        describe(meta_value(only)));
}

void ConfigReader::same_twins(std::string_view section, std::string_view other) {
  const std::string start = key(section);
  for (auto it = metadata().lower_bound(start); it != metadata().end() && it->first.starts_with(start); ++it) {
    const std::string twin = key(other) + it->first.substr(start.size());
    const auto found = metadata().find(twin);
    if (found == metadata().end()) continue;  // refused by its name, as any key that nothing reads
    seen_.insert(it->first);
    if (!same(found->second, it->second))
      fault(ErrorCode::kConfigValue, "keys '{}' and '{}' differ: {} and {}", it->first, twin, describe(it->second),
            describe(found->second));
  }
}

bool ConfigReader::is_harmless(std::string_view container_key) const {
  if (seen_.contains(container_key)) return true;
  if (!source_.is_hf()) return false;
  const std::string_view name = container_key.substr(source_.key_prefix().size());
  const auto harmless = source_.dialect()->harmless;
  return is_harmless_hf_key(name) || std::find(harmless.begin(), harmless.end(), name) != harmless.end();
}

Result<std::vector<ConfigEntry>> ConfigReader::finish() && {
  if (source_.is_hf()) {
    for (const HfValue& only : source_.dialect()->only) check_only(only);
    for (const HfValue& only : common_only()) check_only(only);
  }
  const std::string& start = source_.key_prefix();
  for (auto it = metadata().lower_bound(start); it != metadata().end() && it->first.starts_with(start); ++it) {
    if (is_harmless(it->first)) continue;
    fault(ErrorCode::kConfigUnsupported, "key '{}' ({}) may change the result and is not supported", it->first,
          describe(it->second));
  }
  if (!faults_.empty()) return fail(merge_faults(code_, std::move(faults_)));
  return std::move(entries_);
}

}  // namespace headrace
