// Reads an architecture's configuration and remembers where each value came from. Faults are collected, so that a user
// sees all of them at once; reading goes on with a harmless stand-in that finish() never lets out.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"
#include "models/source.h"

namespace headrace {

class ConfigReader {
 public:
  // Keys are asked for by our names ("block_count"); messages and origins spell them as the container does.
  ConfigReader(const ModelSource& source, Warnings& warnings) : source_(source), warnings_(warnings) {}

  [[nodiscard]] const ModelSource& source() const { return source_; }

  // A count that must be there, >= 1. `field` is our name for it.
  [[nodiscard]] int64_t count(std::string_view field, std::string_view name);
  // A count with a documented default, whose reason appears as the origin.
  [[nodiscard]] int64_t count_or(std::string_view field, std::string_view name, int64_t fallback, std::string_view why);
  // A finite number > 0 that must be there.
  [[nodiscard]] double positive(std::string_view field, std::string_view name);
  // The same with a documented default, which the user is warned about.
  [[nodiscard]] double positive_or(std::string_view field, std::string_view name, double fallback,
                                   std::string_view why);
  // One number per layer: the key holds one for all or an array of exactly `layers`.
  [[nodiscard]] std::vector<int64_t> count_each(std::string_view field, std::string_view name, int64_t layers,
                                                int64_t fallback, std::string_view why);
  [[nodiscard]] std::optional<std::string> text(std::string_view name);
  // A flag with a documented default.
  [[nodiscard]] bool flag_or(std::string_view field, std::string_view name, bool fallback, std::string_view why);

  [[nodiscard]] bool has(std::string_view name) const { return metadata().contains(key(name)); }
  // Whether any key starts with `section`.
  [[nodiscard]] bool has_section(std::string_view section) const;

  // The key may be there without being read: it does not change the maths.
  void harmless(std::string_view name) { seen_.insert(key(name)); }
  // The key may be there only with this value, which means "not used".
  void only(std::string_view name, double value);

  // Keys of a section that another spells too must have the same values there, and are then read with them.
  void same_twins(std::string_view section, std::string_view other);

  void record(std::string_view field, std::string value, std::string origin);
  template <class... A>
  void fault(ErrorCode code, fmt::format_string<A...> text, A&&... args) {
    if (faults_.empty()) code_ = code;
    std::string line = fmt::format(text, std::forward<A>(args)...);
    if (line.size() > kLineBytes) line = line.substr(0, kLineBytes) + "...";  // it quotes a value of any length
    faults_.push_back(std::move(line));
  }
  // False once a fault was found: values may be stand-ins, and checks of one against another would mislead.
  [[nodiscard]] bool good() const { return faults_.empty(); }
  [[nodiscard]] std::string key(std::string_view name) const { return source_.key(name); }

  // Refuses keys under the prefix that nothing has read or declared harmless, then reports all faults together.
  [[nodiscard]] Result<std::vector<ConfigEntry>> finish() &&;

 private:
  static constexpr size_t kLineBytes = 1000;

  template <class T>
  std::optional<T> read(Result<std::optional<T>> value);
  [[nodiscard]] int64_t checked_count(std::string_view name, int64_t value);
  [[nodiscard]] double checked_positive(std::string_view name, double value);
  [[nodiscard]] const std::map<std::string, MetaValue, std::less<>>& metadata() const {
    return source_.checkpoint().metadata;
  }
  // Where the value of a key that is there comes from.
  [[nodiscard]] std::string origin(std::string_view name) const;
  void check_only(const HfValue& only);
  [[nodiscard]] bool is_harmless(std::string_view container_key) const;

  const ModelSource& source_;
  Warnings& warnings_;
  std::vector<ConfigEntry> entries_;
  std::vector<std::string> faults_;
  ErrorCode code_{};
  std::set<std::string, std::less<>> seen_;
};

}  // namespace headrace
