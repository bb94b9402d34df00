// Test kit: a toy Hugging Face checkpoint whose configuration and tensors are changed one at a time.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "base/testing.h"
#include "formats/safetensors_testing.h"
#include "models/model.h"

namespace headrace::testing {

using Json = nlohmann::json;

// A toy model of 1 layer, width 8, 2 heads on 1, 5 tokens: its configuration and the names and shapes of its tensors.
struct Toy {
  Json config;
  std::vector<SafetensorsTensor> tensors;

  void add(const std::string& name, std::vector<int64_t> shape, float value = 0.5F) {
    int64_t elements = 1;
    for (const int64_t size : shape) elements *= size;
    std::string bytes = f32_bytes(std::vector<float>(static_cast<size_t>(elements), value));
    tensors.push_back({.name = name, .dtype = "F32", .shape = std::move(shape), .bytes = std::move(bytes)});
  }
  void drop(std::string_view name) {
    std::erase_if(tensors, [&](const SafetensorsTensor& t) { return t.name == name; });
  }
};

inline void add_block(Toy& toy, const std::string& prefix) {
  const std::string layer = prefix + "layers.0.";
  for (const char* norm : {"input_layernorm.weight", "post_attention_layernorm.weight"}) toy.add(layer + norm, {8});
  toy.add(layer + "self_attn.q_proj.weight", {8, 8});
  toy.add(layer + "self_attn.k_proj.weight", {4, 8});
  toy.add(layer + "self_attn.v_proj.weight", {4, 8});
  toy.add(layer + "self_attn.o_proj.weight", {8, 8});
  toy.add(layer + "mlp.gate_proj.weight", {12, 8});
  toy.add(layer + "mlp.up_proj.weight", {12, 8});
  toy.add(layer + "mlp.down_proj.weight", {8, 12});
}

inline Toy toy(const std::string& model_type, const std::string& prefix = "model.",
               const std::string& head = "lm_head") {
  Toy out{.config = {{"model_type", model_type},
                     {"hidden_size", 8},
                     {"intermediate_size", 12},
                     {"num_hidden_layers", 1},
                     {"num_attention_heads", 2},
                     {"num_key_value_heads", 1},
                     {"head_dim", 4},
                     {"max_position_embeddings", 16},
                     {"vocab_size", 5}},
          .tensors = {}};
  out.add(prefix + "embed_tokens.weight", {5, 8}, 0.25F);
  add_block(out, prefix);
  if (model_type == "qwen2")
    for (const auto& [name, size] : {std::pair{"q", 8}, std::pair{"k", 4}, std::pair{"v", 4}})
      out.add(fmt::format("{}layers.0.self_attn.{}_proj.bias", prefix, name), {size});
  if (model_type == "gemma3_text")
    for (const char* name : {"pre_feedforward_layernorm", "post_feedforward_layernorm"})
      out.add(fmt::format("{}layers.0.{}.weight", prefix, name), {8});
  if (model_type == "qwen3" || model_type == "gemma3_text")
    for (const char* name : {"q_norm", "k_norm"})
      out.add(fmt::format("{}layers.0.self_attn.{}.weight", prefix, name), {4});
  out.add(prefix + "norm.weight", {8});
  out.add(head + ".weight", {5, 8});
  return out;
}

struct Outcome {
  std::vector<ConfigEntry> config;
  LinkedWeights weights;
  bool tied{};
  std::vector<std::string> warnings;

  [[nodiscard]] std::string value(std::string_view field) const {
    for (const ConfigEntry& e : config)
      if (e.name == field) return fmt::format("{} <- {}", e.value, e.origin);
    return "absent";
  }
};

inline Result<Outcome> outcome(const Toy& toy) {
  const TempDir directory;
  std::ignore = directory.write("config.json", toy.config.dump());
  std::ignore = directory.write("model.safetensors", build_safetensors(toy.tensors));
  Warnings warnings;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(directory.path(), warnings));
  HR_TRY(const auto model, make_model(checkpoint, {}, warnings));
  HR_TRY(auto weights, link_weights(*model, checkpoint, warnings));
  return Outcome{.config = model->config(),
                 .weights = std::move(weights),
                 .tied = model->tied_head(),
                 .warnings = std::move(warnings.lines)};
}

}  // namespace headrace::testing
