// Architecture `qwen3` (Qwen Team 2025, arXiv:2505.09388): Llama's decoder with norms of q and k, head by head. GGUF
// files hold q and k rows as Hugging Face's do.
#include "models/swiglu_decoder.h"

namespace headrace {

namespace {

// Defaults: transformers, configuration_qwen3.py.
constexpr HfValue kDefaults[] = {
    {"vocab_size", int64_t{151936}},
    {"hidden_size", int64_t{4096}},
    {"intermediate_size", int64_t{22016}},
    {"num_hidden_layers", int64_t{32}},
    {"num_attention_heads", int64_t{32}},
    {"num_key_value_heads", int64_t{32}},
    {"head_dim", int64_t{128}},
    {"max_position_embeddings", int64_t{32768}},
    {"rms_norm_eps", 1e-6},
    {"rope_theta", 10000.0, true},
    {"tie_word_embeddings", false},
    {"attention_bias", false},
};
constexpr HfValue kOnly[] = {{"hidden_act", std::string_view("silu")}, {"use_sliding_window", false}};
// Of windows, which use_sliding_window turns off.
constexpr std::string_view kHarmless[] = {"sliding_window", "max_window_layers"};

}  // namespace

std::span<const HfDialect> qwen3_dialects() {
  static constexpr HfDialect kDialects[] = {{.model_type = "qwen3",
                                             .class_name = "Qwen3Config",
                                             .defaults = kDefaults,
                                             .only = kOnly,
                                             .harmless = kHarmless}};
  return kDialects;
}

Result<std::unique_ptr<Model>> make_qwen3(const ModelSource& source, const ModelOptions& options, Warnings& warnings) {
  ConfigReader read(source, warnings);
  SwigluConfig c;
  c.shape = read_decoder_shape(read, options);
  c.rope = read_rope(read, c.shape, RopePairing::kHalf);
  c.qk_norm = true;
  if (source.is_hf())
    c.qkv_bias = c.output_bias = read.flag_or("attention_bias", "attention_bias", false, "none in this model type");
  read_full_attention(read, c.shape);
  HR_TRY(auto entries, std::move(read).finish());
  return make_swiglu_decoder("qwen3", std::move(c), std::move(entries), source.names());
}

}  // namespace headrace
