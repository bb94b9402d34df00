// What the configurations of decoder-only transformers have in common, read once for all architectures.
#pragma once

#include <cstdint>
#include <string>

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
  bool tied{};  // the head is the embedding
  double eps{};
};

// Keys block_count, context_length, embedding_length, feed_forward_length, attention.*; rows of token_embd.weight;
// presence of output.weight. `options.layers` beyond the checkpoint's is a fault.
[[nodiscard]] DecoderShape read_decoder_shape(ConfigReader& read, const Checkpoint& checkpoint,
                                              const ModelOptions& options);

// Keys rope.dimension_count, rope.freq_base and, for linear scaling only, rope.scaling.* and rope.scale_linear. Other
// kinds of scaling are refused by their key.
[[nodiscard]] RopeConfig read_rope(ConfigReader& read, const DecoderShape& shape, RopePairing pairing);

// `blk.<layer>.<what>.<kind>`, llama.cpp's names.
[[nodiscard]] std::string block_tensor(int64_t layer, std::string_view what, std::string_view kind = "weight");

// Whether any layer has a bias of that name; the tensor table then wants one in every layer.
[[nodiscard]] bool has_bias(const Checkpoint& checkpoint, const DecoderShape& shape, std::string_view what);

}  // namespace headrace
