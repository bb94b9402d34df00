// Typed reading of a checkpoint's metadata. An absent key is an empty optional; a value of another type is an error
// that names the key, what is there and what is wanted. Numbers convert between signed, unsigned and floating types
// only when nothing is lost: 32.0 reads as the integer 32, 32.5 does not; strings and bools never read as numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/checkpoint.h"

namespace headrace {

// Errors of all: kConfigValue.
[[nodiscard]] Result<std::optional<int64_t>> meta_int(const Checkpoint& checkpoint, std::string_view key);
[[nodiscard]] Result<std::optional<double>> meta_float(const Checkpoint& checkpoint, std::string_view key);
[[nodiscard]] Result<std::optional<bool>> meta_bool(const Checkpoint& checkpoint, std::string_view key);
[[nodiscard]] Result<std::optional<std::string>> meta_string(const Checkpoint& checkpoint, std::string_view key);

// The first key that starts so, which for `section.` tells whether there is one; null without.
[[nodiscard]] const std::string* meta_section(const Checkpoint& checkpoint, std::string_view start);

// A scalar is not an array here; meta_is_array tells which of the two a key holds.
[[nodiscard]] bool meta_is_array(const Checkpoint& checkpoint, std::string_view key);
// Items of an array; nullopt for everything else. To be asked before a long array is converted for nothing.
[[nodiscard]] std::optional<size_t> meta_array_size(const Checkpoint& checkpoint, std::string_view key);
[[nodiscard]] Result<std::optional<std::vector<int64_t>>> meta_int_array(const Checkpoint& checkpoint,
                                                                         std::string_view key);
[[nodiscard]] Result<std::optional<std::vector<double>>> meta_float_array(const Checkpoint& checkpoint,
                                                                          std::string_view key);
[[nodiscard]] Result<std::optional<std::vector<bool>>> meta_bool_array(const Checkpoint& checkpoint,
                                                                       std::string_view key);
// Not copied: null when absent, else owned by the checkpoint.
[[nodiscard]] Result<const std::vector<std::string>*> meta_string_array(const Checkpoint& checkpoint,
                                                                        std::string_view key);

// A key that may be one number for all `count` items (layers) or an array of exactly `count` numbers.
[[nodiscard]] Result<std::optional<std::vector<int64_t>>> meta_int_each(const Checkpoint& checkpoint,
                                                                        std::string_view key, int64_t count);

// A value as an integer if nothing is lost, as the functions above do it.
[[nodiscard]] std::optional<int64_t> as_int(const MetaValue& value);
[[nodiscard]] std::optional<double> as_float(const MetaValue& value);

// What is there, for messages: `unsigned integer`, `string`, `array of 3 strings`, `absent`.
[[nodiscard]] std::string meta_type_name(const Checkpoint& checkpoint, std::string_view key);
// The value on one line, for people: strings quoted and cut after 60 bytes, arrays by their first items and length.
[[nodiscard]] std::string describe(const MetaValue& value);

}  // namespace headrace
