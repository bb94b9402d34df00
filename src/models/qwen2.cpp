// Architecture `qwen2` (Qwen Team 2024, arXiv:2407.10671): Llama's decoder with biases on q, k and v. GGUF files hold q
// and k rows as Hugging Face's do.
#include "models/swiglu_decoder.h"

namespace headrace {

namespace {

// Defaults: transformers, configuration_qwen2.py.
constexpr HfValue kDefaults[] = {
    {"vocab_size", int64_t{151936}},
    {"hidden_size", int64_t{4096}},
    {"intermediate_size", int64_t{22016}},
    {"num_hidden_layers", int64_t{32}},
    {"num_attention_heads", int64_t{32}},
    {"num_key_value_heads", int64_t{32}},
    {"max_position_embeddings", int64_t{32768}},
    {"rms_norm_eps", 1e-6},
    {"rope_theta", 10000.0, true},
    {"tie_word_embeddings", false},
};
constexpr HfValue kOnly[] = {{"hidden_act", std::string_view("silu")}, {"use_sliding_window", false}};
// Of windows, which use_sliding_window turns off.
constexpr std::string_view kHarmless[] = {"sliding_window", "max_window_layers"};

}  // namespace

std::span<const HfDialect> qwen2_dialects() {
  static constexpr HfDialect kDialects[] = {{.model_type = "qwen2",
                                             .class_name = "Qwen2Config",
                                             .defaults = kDefaults,
                                             .only = kOnly,
                                             .harmless = kHarmless}};
  return kDialects;
}

Result<std::unique_ptr<Model>> make_qwen2(const ModelSource& source, const ModelOptions& options, Warnings& warnings) {
  ConfigReader read(source, warnings);
  SwigluConfig c;
  c.shape = read_decoder_shape(read, options);
  c.rope = read_rope(read, c.shape, RopePairing::kHalf);
  c.qkv_bias = true;
  read_full_attention(read, c.shape);
  HR_TRY(auto entries, std::move(read).finish());
  return make_swiglu_decoder("qwen2", std::move(c), std::move(entries), source.names());
}

}  // namespace headrace
