// How a Hugging Face config.json is read: each model_type is a dialect that says which keys stand for ours, what the
// configuration class of transformers assumes when a key is absent, which keys have one supported value, and which do
// not matter. A key that no table knows is refused: it may change the result.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "formats/checkpoint.h"
#include "models/tensor_names.h"

namespace headrace {

struct HfValue {
  std::string_view key;
  std::variant<bool, int64_t, double, std::string_view> value;
  bool is_older_rope = false;  // a default that holds only where there is no section rope_parameters
};

struct HfDialect {
  std::string_view model_type;  // "llama"; of the text_config where there is one
  std::string_view class_name;  // "LlamaConfig": whose defaults these are
  std::span<const HfValue> defaults = {};
  std::span<const HfValue> only = {};  // the one value supported, and that of an absent key
  std::span<const std::string_view> harmless = {};
  std::span<const HfName> names = {};  // of a block's tensors, beyond those that most architectures share
};

// The configuration of the text model inside config.json.
struct HfPlace {
  std::string model_type;
  std::string prefix;  // of its keys: "" or "text_config."
};
// Errors: kArchitecture (no model_type), kConfigValue, kConfigUnsupported (a quantisation, a wrapper that contradicts
// its text_config).
[[nodiscard]] Result<HfPlace> find_hf_config(const Checkpoint& checkpoint);

// Our name of a configuration key in Hugging Face's words; what has none of its own is returned as it is.
[[nodiscard]] std::string_view hf_key(std::string_view ours);

// Keys of other configuration classes which say "as always" with one value, and something that no model here does with
// another.
[[nodiscard]] std::span<const HfValue> common_only();

// Whether a key, its prefix taken off, never matters to a text model: training, generation, bookkeeping.
[[nodiscard]] bool is_harmless_hf_key(std::string_view key);

[[nodiscard]] MetaValue meta_value(const HfValue& value);

}  // namespace headrace
