// What an architecture is to the rest of Headrace: a configuration with the origin of every value, a table of the
// tensors it wants with their roles, and forward(). models.def lists the architectures; docs/adding-a-model.md is the
// recipe.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "formats/checkpoint.h"
#include "ir/module.h"
#include "models/source.h"
#include "nn/kv_cache.h"
#include "nn/tensor.h"

namespace headrace {

// One configuration value as a person and the manifest see it.
struct ConfigEntry {
  std::string name;   // our field: "rope_base"
  std::string value;  // "10000"
  // "key llama.rope.freq_base", "default: llama.cpp's (key llama.rope.freq_base is absent)", "rows of tensor ..."
  std::string origin;
};

// A tensor of the model. Shape is row-major, outermost first.
struct TensorSpec {
  std::string name;
  Role role{};
  std::vector<int64_t> shape;
  bool used{true};  // false: it must be there, but the function does without: ModelOptions::layers, a spare head
};

// What a user may ask of a model before it is traced.
struct ModelOptions {
  std::optional<int64_t> layers{};  // the first so many layers, then the head; all when absent
};

class Model {
 public:
  virtual ~Model() = default;
  [[nodiscard]] virtual std::string_view architecture() const = 0;
  [[nodiscard]] virtual const std::vector<ConfigEntry>& config() const = 0;
  [[nodiscard]] virtual const std::vector<TensorSpec>& tensors() const = 0;  // by the container's names
  [[nodiscard]] virtual const TensorNames& names() const = 0;
  [[nodiscard]] virtual int64_t vocabulary() const = 0;
  [[nodiscard]] virtual int64_t context_length() const = 0;
  [[nodiscard]] virtual bool tied_head() const = 0;
  // tokens and positions i32 [B, S] -> what the head reads, f32 [B, S, width]: the last norm's result. Throws UserError
  // (nn/tensor.h), as does head().
  [[nodiscard]] virtual Tensor forward(const Tensor& tokens, const Tensor& positions, KvCache& kv) const = 0;
  // Rows of forward's result, as many as logits are wanted of: [B, N, width] -> f32 [B, N, vocabulary].
  [[nodiscard]] virtual Tensor head(const Tensor& hidden) const = 0;
};

struct ArchitectureInfo {
  std::string_view name;     // GGUF's general.architecture
  std::string_view summary;  // one line for docs and --help
  // Reads the configuration. Errors: kConfigMissing, kConfigValue, kConfigUnsupported, kTensorLink.
  Result<std::unique_ptr<Model>> (*make)(const ModelSource&, const ModelOptions&, Warnings&){};
  std::span<const HfDialect> (*dialects)(){};  // the model types of Hugging Face that it serves
};

[[nodiscard]] std::span<const ArchitectureInfo> architecture_table();

// The model of a checkpoint: by general.architecture of a GGUF, by model_type of a config.json (its text_config's,
// where it has one). Errors: kArchitecture (names it and lists those supported), those of find_hf_config and make().
[[nodiscard]] Result<std::unique_ptr<Model>> make_model(const Checkpoint& checkpoint, const ModelOptions& options,
                                                        Warnings& warnings);

// Binds the model's tensor table to the checkpoint: one Parameter and one Recipe (to f32) per tensor. All missing and
// misshapen tensors, undecodable block types, and tensors inside the text model's namespace that have no place are
// reported together (kTensorLink, kBlockType); unknown tensors elsewhere are named in a warning.
struct LinkedWeights {
  std::vector<Recipe> recipes;
  std::vector<Parameter> parameters;
};
[[nodiscard]] Result<LinkedWeights> link_weights(const Model& model, const Checkpoint& checkpoint, Warnings& warnings);

}  // namespace headrace
