// Architecture `llama` (Touvron et al. 2023, arXiv:2302.13971) and what shares it: Mistral. GGUF keys and tensor names
// are llama.cpp's; its files hold q and k rows permuted for interleaved RoPE.
#include "models/swiglu_decoder.h"

namespace headrace {

namespace {

constexpr const char* kRopeFactors = "rope_freqs.weight";

// Defaults: transformers, configuration_llama.py and configuration_mistral.py.
constexpr HfValue kLlamaDefaults[] = {
    {"vocab_size", int64_t{32000}},
    {"hidden_size", int64_t{4096}},
    {"intermediate_size", int64_t{11008}},
    {"num_hidden_layers", int64_t{32}},
    {"num_attention_heads", int64_t{32}},
    {"max_position_embeddings", int64_t{2048}},
    {"rms_norm_eps", 1e-6},
    {"rope_theta", 10000.0, true},
    {"tie_word_embeddings", false},
    {"attention_bias", false},
    {"mlp_bias", false},
};
constexpr HfValue kMistralDefaults[] = {
    {"vocab_size", int64_t{32000}},
    {"hidden_size", int64_t{4096}},
    {"intermediate_size", int64_t{14336}},
    {"num_hidden_layers", int64_t{32}},
    {"num_attention_heads", int64_t{32}},
    {"num_key_value_heads", int64_t{8}},
    {"max_position_embeddings", int64_t{131072}},
    {"rms_norm_eps", 1e-6},
    {"rope_theta", 10000.0, true},
    {"tie_word_embeddings", false},
    {"sliding_window", int64_t{4096}},
};
constexpr HfValue kOnly[] = {
    {"hidden_act", std::string_view("silu")},
    {"activation", std::string_view("swiglu")},
    {"rope_interleaved", false},
};
// SmolLM2's files say so; the class does not ask.
constexpr std::string_view kHarmless[] = {"is_llama_config"};

bool is_mistral(const ModelSource& source) { return source.is_hf() && source.dialect()->model_type == "mistral"; }

// q, k and v have biases together or not at all; the tensor table then names what is missing of a partial set.
void read_biases(ConfigReader& read, SwigluConfig& c) {
  const ModelSource& source = read.source();
  if (is_mistral(source)) return;  // its class has none
  if (source.is_hf()) {
    c.qkv_bias = c.output_bias = read.flag_or("attention_bias", "attention_bias", false, "none in this model type");
    c.gate_bias = c.up_bias = c.down_bias = read.flag_or("mlp_bias", "mlp_bias", false, "none in this model type");
    return;
  }
  for (const char* what : {"attn_q", "attn_k", "attn_v"}) c.qkv_bias |= has_bias(source, c.shape, what);
  c.output_bias = has_bias(source, c.shape, "attn_output");
  c.gate_bias = has_bias(source, c.shape, "ffn_gate");
  c.up_bias = has_bias(source, c.shape, "ffn_up");
  c.down_bias = has_bias(source, c.shape, "ffn_down");
}

}  // namespace

std::span<const HfDialect> llama_dialects() {
  static constexpr HfDialect kDialects[] = {
      {.model_type = "llama",
       .class_name = "LlamaConfig",
       .defaults = kLlamaDefaults,
       .only = kOnly,
       .harmless = kHarmless},
      {.model_type = "mistral", .class_name = "MistralConfig", .defaults = kMistralDefaults, .only = kOnly},
  };
  return kDialects;
}

Result<std::unique_ptr<Model>> make_llama(const ModelSource& source, const ModelOptions& options, Warnings& warnings) {
  ConfigReader read(source, warnings);
  SwigluConfig c;
  c.shape = read_decoder_shape(read, options);
  c.rope = read_rope(read, c.shape, RopePairing::kInterleaved);
  // Hugging Face files have the divisors in their configuration.
  if (!source.is_hf() && source.find(kRopeFactors) != nullptr) c.rope.factors = kRopeFactors;
  read_biases(read, c);
  // With local layers among them transformers takes another class.
  if (source.is_hf()) read_full_attention(read, c.shape);
  // A llama GGUF does not say that there is a window; Mistral's config.json does.
  if (is_mistral(source) && read.has("attention.sliding_window"))
    c.window = read.count("window", "attention.sliding_window");
  read.only("expert_count", 0);
  read.only("expert_used_count", 0);
  HR_TRY(auto entries, std::move(read).finish());
  return make_swiglu_decoder("llama", std::move(c), std::move(entries), source.names());
}

}  // namespace headrace
