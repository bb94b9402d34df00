#include "models/config_reader.h"

#include <algorithm>
#include <cmath>

#include "formats/meta.h"

namespace headrace {

namespace {

// Beyond any model that exists, and small enough that products of two counts stay far from overflow.
constexpr int64_t kLargestCount = int64_t{1} << 28;

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
  if (std::isfinite(value) && value > 0) return value;
  fault(ErrorCode::kConfigValue, "key '{}' is {}, expected a finite number above 0", key(name), value);
  return 1;
}

int64_t ConfigReader::count(std::string_view field, std::string_view name) {
  seen_.insert(key(name));
  const size_t before = faults_.size();
  const auto value = read(meta_int(checkpoint_, key(name)));
  if (!value) {
    if (faults_.size() == before) fault(ErrorCode::kConfigMissing, "key '{}' is missing", key(name));
    return 1;
  }
  record(field, fmt::format("{}", *value), fmt::format("key {}", key(name)));
  return checked_count(name, *value);
}

int64_t ConfigReader::count_or(std::string_view field, std::string_view name, int64_t fallback, std::string_view why) {
  seen_.insert(key(name));
  const auto value = read(meta_int(checkpoint_, key(name)));
  if (value) {
    record(field, fmt::format("{}", *value), fmt::format("key {}", key(name)));
    return checked_count(name, *value);
  }
  record(field, fmt::format("{}", fallback), fmt::format("default: {} (key {} is absent)", why, key(name)));
  return fallback;
}

double ConfigReader::positive(std::string_view field, std::string_view name) {
  seen_.insert(key(name));
  const size_t before = faults_.size();
  const auto value = read(meta_float(checkpoint_, key(name)));
  if (!value) {
    if (faults_.size() == before) fault(ErrorCode::kConfigMissing, "key '{}' is missing", key(name));
    return 1;
  }
  record(field, fmt::format("{}", *value), fmt::format("key {}", key(name)));
  return checked_positive(name, *value);
}

double ConfigReader::positive_or(std::string_view field, std::string_view name, double fallback, std::string_view why) {
  seen_.insert(key(name));
  const auto value = read(meta_float(checkpoint_, key(name)));
  if (value) {
    record(field, fmt::format("{}", *value), fmt::format("key {}", key(name)));
    return checked_positive(name, *value);
  }
  warnings_.add("key '{}' is absent: {} is used, {}", key(name), fallback, why);
  record(field, fmt::format("{}", fallback), fmt::format("default: {} (key {} is absent)", why, key(name)));
  return fallback;
}

std::vector<int64_t> ConfigReader::count_each(std::string_view field, std::string_view name, int64_t layers,
                                              int64_t fallback, std::string_view why) {
  seen_.insert(key(name));
  auto values = read(meta_int_each(checkpoint_, key(name), layers));
  if (!values) {
    record(field, fmt::format("{}", fallback), fmt::format("default: {} (key {} is absent)", why, key(name)));
    std::vector<int64_t> all(static_cast<size_t>(layers), fallback);
    return all;
  }
  for (int64_t& value : *values) value = checked_count(name, value);
  const bool uniform = std::adjacent_find(values->begin(), values->end(), std::not_equal_to<>()) == values->end();
  record(field, uniform ? fmt::format("{}", values->front()) : fmt::format("[{}]", fmt::join(*values, ", ")),
         fmt::format("key {}", key(name)));
  return *std::move(values);
}

std::optional<std::string> ConfigReader::text(std::string_view name) {
  seen_.insert(key(name));
  return read(meta_string(checkpoint_, key(name)));
}

void ConfigReader::only(std::string_view name, double value) {
  seen_.insert(key(name));
  const auto found = read(meta_float(checkpoint_, key(name)));
  if (found && *found != value)
    fault(ErrorCode::kConfigUnsupported, "key '{}' is {}, which changes the result and is not supported", key(name),
          *found);
}

void ConfigReader::record(std::string_view field, std::string value, std::string origin) {
  entries_.push_back({.name = std::string(field), .value = std::move(value), .origin = std::move(origin)});
}

Result<std::vector<ConfigEntry>> ConfigReader::finish() && {
  const std::string namespace_start = prefix_ + ".";
  for (auto it = checkpoint_.metadata.lower_bound(namespace_start);
       it != checkpoint_.metadata.end() && it->first.starts_with(namespace_start); ++it) {
    if (!seen_.contains(it->first))
      fault(ErrorCode::kConfigUnsupported, "key '{}' ({}) may change the result and is not supported", it->first,
            describe(it->second));
  }
  if (!faults_.empty()) return fail(merge_faults(code_, std::move(faults_)));
  return std::move(entries_);
}

}  // namespace headrace
