// The decoder that Llama made common and most architectures since vary in a few places: pre-norm blocks of
// grouped-query attention with RoPE and a SwiGLU feed-forward net (Touvron et al. 2023, arXiv:2302.13971; GQA: Ainslie
// et al. 2023, arXiv:2305.13245). An architecture's file reads its configuration into this.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "models/decoder_config.h"

namespace headrace {

struct SwigluConfig {
  DecoderShape shape;
  RopeConfig rope;
  bool qkv_bias{}, output_bias{}, gate_bias{}, up_bias{}, down_bias{};  // q, k and v have biases together
  bool qk_norm{};                                                       // q and k are normed head by head before RoPE
  int64_t window{};                                                     // keys a query sees, its own included; 0: all
};

// `architecture` is a literal: the model keeps it.
[[nodiscard]] std::unique_ptr<Model> make_swiglu_decoder(std::string_view architecture, SwigluConfig config,
                                                         std::vector<ConfigEntry> entries, TensorNames names);

}  // namespace headrace
