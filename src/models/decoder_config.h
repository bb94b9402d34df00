// What the configurations of decoder-only transformers have in common, read once for all architectures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/config_reader.h"
#include "nn/rope.h"

namespace headrace {

struct DecoderShape {
  int64_t layers{};       // of the checkpoint
  int64_t used_layers{};  // of the function: ModelOptions::layers, or all
  int64_t context{};
  int64_t width{};   // of the residual stream
  int64_t hidden{};  // of the feed-forward net
  int64_t heads{};
  int64_t kv_heads{};
  int64_t head_width{};
  [[nodiscard]] int64_t group() const { return heads / kv_heads; }  // query heads that share a key head
  int64_t vocabulary{};
  bool tied{};                              // the head is the embedding
  std::optional<std::string> spare_head{};  // the tensor of a tied model's head, where it is stored all the same
  double eps{};
};

// Keys block_count, context_length, embedding_length, feed_forward_length, attention.*; rows of token_embd.weight;
// whether the head is tied (a GGUF: output.weight is absent; Hugging Face: tie_word_embeddings). `options.layers`
// beyond the checkpoint's is a fault.
[[nodiscard]] DecoderShape read_decoder_shape(ConfigReader& read, const ModelOptions& options);

// RoPE by the container's keys; `gguf` is the pairing of GGUF files of the architecture (Hugging Face's is always
// half). A GGUF: rope.dimension_count, rope.freq_base and, for linear scaling only, rope.scaling.* and
// rope.scale_linear. Hugging Face: see read_hf_rope. Other kinds of scaling are refused by their key.
[[nodiscard]] RopeConfig read_rope(ConfigReader& read, const DecoderShape& shape, RopePairing gguf);

// Which keys of a config.json hold a RoPE: transformers 5 has a section rope_parameters, one for each type of layer
// where these differ; before, the base had a key of its own and rope_scaling was a section or null.
struct HfRopeKeys {
  std::string_view layer_type = {};           // "full_attention"; empty: one RoPE for all layers
  std::string_view base = "rope_theta";       // the older spelling
  std::string_view scaling = "rope_scaling";  // empty: the older spelling scales no such layers
};
// Types default, linear and llama3 (Grattafiori et al. 2024, arXiv:2407.21783; the formula is transformers').
[[nodiscard]] RopeConfig read_hf_rope(ConfigReader& read, const DecoderShape& shape, const HfRopeKeys& keys);

// Which layers are local, by a config.json's layer_types; nullopt without that key.
[[nodiscard]] std::optional<std::vector<bool>> read_layer_types(ConfigReader& read, const DecoderShape& shape);
// Refuses layer_types that are not all full_attention.
void read_full_attention(ConfigReader& read, const DecoderShape& shape);

// `blk.<layer>.<what>.<kind>`, llama.cpp's names.
[[nodiscard]] std::string block_tensor(int64_t layer, std::string_view what, std::string_view kind = "weight");

// Whether any layer has a bias of that name; the tensor table then wants one in every layer.
[[nodiscard]] bool has_bias(const ModelSource& source, const DecoderShape& shape, std::string_view what);

}  // namespace headrace
