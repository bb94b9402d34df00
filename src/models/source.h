// A checkpoint as a model reads it: whatever the container, keys and tensors are asked for by Headrace's own names.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "formats/checkpoint.h"
#include "models/hf_config.h"
#include "models/tensor_names.h"

namespace headrace {

class ModelSource {
 public:
  // A GGUF of that architecture. `checkpoint` must outlive the source.
  ModelSource(const Checkpoint& checkpoint, std::string_view architecture)
      : checkpoint_(checkpoint), prefix_(fmt::format("{}.", architecture)) {}
  // A Hugging Face checkpoint; `filled` is it with the dialect's defaults put in (registry.cpp), and must outlive the
  // source too.
  ModelSource(const Checkpoint& filled, std::set<std::string, std::less<>> defaulted, const HfDialect& dialect,
              std::string prefix, TensorNames names)
      : checkpoint_(filled),
        prefix_(std::move(prefix)),
        names_(std::move(names)),
        dialect_(&dialect),
        defaulted_(std::move(defaulted)) {}

  [[nodiscard]] const Checkpoint& checkpoint() const { return checkpoint_; }
  // Null for a GGUF.
  [[nodiscard]] const HfDialect* dialect() const { return dialect_; }
  [[nodiscard]] bool is_hf() const { return dialect_ != nullptr; }

  // The container's spelling of a key: `llama.block_count`, `text_config.num_hidden_layers`.
  [[nodiscard]] std::string key(std::string_view ours) const {
    return fmt::format("{}{}", prefix_, is_hf() ? hf_key(ours) : ours);
  }
  [[nodiscard]] const std::string& key_prefix() const { return prefix_; }
  // Whether the key was absent and its value is the dialect's default.
  [[nodiscard]] bool is_default(std::string_view container_key) const { return defaulted_.contains(container_key); }

  [[nodiscard]] const TensorNames& names() const { return names_; }
  [[nodiscard]] const TensorEntry* find(std::string_view our_tensor) const {
    return checkpoint_.find(names_(our_tensor));
  }

 private:
  const Checkpoint& checkpoint_;
  std::string prefix_;
  TensorNames names_;
  const HfDialect* dialect_ = nullptr;
  std::set<std::string, std::less<>> defaulted_;
};

}  // namespace headrace
