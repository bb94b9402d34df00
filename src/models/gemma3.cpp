// Architecture `gemma3`, text model (Gemma Team 2025, arXiv:2503.19786): norms before and after attention and
// feed-forward, per-head norms of q and k, five local layers (a sliding window, their own RoPE base) to one global
// layer, GeGLU, a scaled embedding. GGUF files hold norm weights with Gemma's 1 already added, Hugging Face's do not.
#include <algorithm>
#include <cmath>

#include "formats/meta.h"
#include "models/decoder_model.h"
#include "nn/layers.h"

namespace headrace {

namespace {

struct Gemma3Config {
  DecoderShape shape;
  RopeConfig global_rope;
  RopeConfig local_rope;
  std::vector<bool> local;  // by layer
  int64_t window{};         // keys a local query sees, its own included
  double attention_scale{};
  double attention_softcap{};  // 0: none
  double final_softcap{};      // 0: none
  double norm_offset{};        // what the container's norm weights lack
};

struct Attention {
  Linear q, k, v, output;
  RmsNorm q_norm, k_norm;
};

struct FeedForward {
  Linear gate, up, down;
  Tensor operator()(const Tensor& x) const { return down(gelu_tanh(gate(x)) * up(x)); }
};

struct Block {
  RmsNorm attn_norm;
  Attention attn;
  RmsNorm post_attn_norm;
  RmsNorm ffn_norm;
  FeedForward ffn;
  RmsNorm post_ffn_norm;
};

struct Weights {
  Embedding token_embd;
  std::vector<Block> blocks;
  RmsNorm output_norm;
  std::optional<Linear> output;
};

Weights name_weights(const Gemma3Config& config, const TensorNames& names) {
  const DecoderShape& c = config.shape;
  const auto rms_norm = [&](const std::string& ours) {
    return RmsNorm{.weight = names(ours), .eps = c.eps, .offset = config.norm_offset};
  };
  const auto norm = [&](int64_t i, const char* what) { return rms_norm(block_tensor(i, what)); };
  const auto linear = [&](int64_t i, const char* what) { return Linear{.weight = names(block_tensor(i, what))}; };
  Weights weights{.token_embd = {.weight = names("token_embd.weight")},
                  .blocks = {},
                  .output_norm = rms_norm("output_norm.weight"),
                  .output = std::nullopt};
  if (!c.tied) weights.output = Linear{.weight = names("output.weight")};
  for (int64_t i = 0; i < c.layers; ++i)
    weights.blocks.push_back(
        {.attn_norm = norm(i, "attn_norm"),
         .attn = {.q = linear(i, "attn_q"),
                  .k = linear(i, "attn_k"),
                  .v = linear(i, "attn_v"),
                  .output = linear(i, "attn_output"),
                  .q_norm = norm(i, "attn_q_norm"),
                  .k_norm = norm(i, "attn_k_norm")},
         .post_attn_norm = norm(i, "post_attention_norm"),
         .ffn_norm = norm(i, "ffn_norm"),
         .ffn = {.gate = linear(i, "ffn_gate"), .up = linear(i, "ffn_up"), .down = linear(i, "ffn_down")},
         .post_ffn_norm = norm(i, "post_ffw_norm")});
  return weights;
}

std::vector<TensorSpec> tensor_table(const DecoderShape& c, const Weights& weights) {
  std::vector<TensorSpec> table{{weights.token_embd.weight, Role::kEmbedding, {c.vocabulary, c.width}}};
  for (int64_t i = 0; i < c.layers; ++i) {
    const Block& b = weights.blocks[static_cast<size_t>(i)];
    const bool used = i < c.used_layers;
    for (const RmsNorm* n : {&b.attn_norm, &b.post_attn_norm, &b.ffn_norm, &b.post_ffn_norm})
      table.push_back({n->weight, Role::kNorm, {c.width}, used});
    for (const RmsNorm* n : {&b.attn.q_norm, &b.attn.k_norm})
      table.push_back({n->weight, Role::kNorm, {c.head_width}, used});
    table.push_back({b.attn.q.weight, Role::kMatmul, {c.heads * c.head_width, c.width}, used});
    table.push_back({b.attn.k.weight, Role::kMatmul, {c.kv_heads * c.head_width, c.width}, used});
    table.push_back({b.attn.v.weight, Role::kMatmul, {c.kv_heads * c.head_width, c.width}, used});
    table.push_back({b.attn.output.weight, Role::kMatmul, {c.width, c.heads * c.head_width}, used});
    table.push_back({b.ffn.gate.weight, Role::kMatmul, {c.hidden, c.width}, used});
    table.push_back({b.ffn.up.weight, Role::kMatmul, {c.hidden, c.width}, used});
    table.push_back({b.ffn.down.weight, Role::kMatmul, {c.width, c.hidden}, used});
  }
  table.push_back({weights.output_norm.weight, Role::kNorm, {c.width}});
  if (weights.output) table.push_back({weights.output->weight, Role::kMatmul, {c.vocabulary, c.width}});
  if (c.spare_head) table.push_back({*c.spare_head, Role::kMatmul, {c.vocabulary, c.width}, false});
  return table;
}

class Gemma3 final : public DecoderModel {
 public:
  Gemma3(Gemma3Config config, std::vector<ConfigEntry> entries, TensorNames names)
      : DecoderModel("gemma3", std::move(entries), std::move(names)),
        config_(std::move(config)),
        weights_(name_weights(config_, this->names())),
        tensors_(tensor_table(config_.shape, weights_)) {}

  [[nodiscard]] const std::vector<TensorSpec>& tensors() const override { return tensors_; }

  [[nodiscard]] Tensor forward(const Tensor& tokens, const Tensor& positions, KvCache& kv) const override {
    Tracer& t = tokens.tracer();
    // The scale belongs to the embedding alone: a tied head uses the matrix as it is.
    Tensor x = in_scope(t, "token_embd", [&] {
      return weights_.token_embd(tokens) * std::sqrt(static_cast<double>(config_.shape.width));
    });
    const RopeTables global = in_scope(t, "rope_global", [&] { return rope_tables(positions, config_.global_rope); });
    const RopeTables local = in_scope(t, "rope_local", [&] { return rope_tables(positions, config_.local_rope); });
    for (int64_t i = 0; i < config_.shape.used_layers; ++i) {
      const Scope block_scope(t, fmt::format("blk.{}", i));
      const Block& b = weights_.blocks[static_cast<size_t>(i)];
      const Tensor a = in_scope(t, "attn_norm", [&] { return b.attn_norm(x); });
      const Tensor mixed = in_scope(t, "attn", [&] { return attention(b.attn, a, i, global, local, positions, kv); });
      x = x + in_scope(t, "post_attn_norm", [&] { return b.post_attn_norm(mixed); });
      const Tensor f = in_scope(t, "ffn_norm", [&] { return b.ffn_norm(x); });
      const Tensor fed = in_scope(t, "ffn", [&] { return b.ffn(f); });
      x = x + in_scope(t, "post_ffn_norm", [&] { return b.post_ffn_norm(fed); });
    }
    return in_scope(t, "output_norm", [&] { return weights_.output_norm(x); });
  }

  [[nodiscard]] Tensor head(const Tensor& hidden) const override {
    return in_scope(hidden.tracer(), "output", [&] {
      const Tensor logits = weights_.output ? (*weights_.output)(hidden) : weights_.token_embd.head(hidden);
      return config_.final_softcap == 0 ? logits : softcap(logits, config_.final_softcap);
    });
  }

 private:
  [[nodiscard]] Tensor attention(const Attention& a, const Tensor& x, int64_t layer, const RopeTables& global,
                                 const RopeTables& local, const Tensor& positions, KvCache& kv) const {
    Tracer& t = x.tracer();
    const DecoderShape& shape = config_.shape;
    const bool is_local = config_.local[static_cast<size_t>(layer)];
    const RopeTables& tables = is_local ? local : global;
    const RopeConfig& config = is_local ? config_.local_rope : config_.global_rope;
    const Tensor q = in_scope(t, "q", [&] {
      return rope(a.q_norm(a.q.split_heads(x, {shape.kv_heads, shape.group()})), tables, config);
    });
    const Tensor k =
        in_scope(t, "k", [&] { return rope(a.k_norm(a.k.split_heads(x, {shape.kv_heads})), tables, config); });
    const Tensor v = in_scope(t, "v", [&] { return a.v.split_heads(x, {shape.kv_heads}); });
    const AttendOptions options{.scale = config_.attention_scale,
                                .softcap = config_.attention_softcap,
                                .window = is_local ? config_.window : 0};
    const Tensor mixed = kv.attend(layer, q, k, v, positions, options);
    return in_scope(t, "output", [&] { return a.output.merge_heads(mixed); });
  }

  [[nodiscard]] const DecoderShape& shape() const override { return config_.shape; }

  Gemma3Config config_;
  Weights weights_;
  std::vector<TensorSpec> tensors_;
};

// Defaults: transformers, configuration_gemma3.py.
constexpr HfValue kDefaults[] = {
    {"vocab_size", int64_t{262208}},
    {"hidden_size", int64_t{2304}},
    {"intermediate_size", int64_t{9216}},
    {"num_hidden_layers", int64_t{26}},
    {"num_attention_heads", int64_t{8}},
    {"num_key_value_heads", int64_t{4}},
    {"head_dim", int64_t{256}},
    {"max_position_embeddings", int64_t{131072}},
    {"rms_norm_eps", 1e-6},
    {"rope_theta", 1e6, true},
    {"rope_local_base_freq", 1e4, true},
    {"query_pre_attn_scalar", int64_t{256}},
    {"sliding_window", int64_t{4096}},
    {"tie_word_embeddings", true},
};
constexpr HfValue kOnly[] = {
    {"hidden_activation", std::string_view("gelu_pytorch_tanh")},
    {"attention_bias", false},
    {"use_bidirectional_attention", false},
};
// The class reads hidden_activation; hidden_act stands in old files and is "gelu" in some.
constexpr std::string_view kHarmless[] = {"hidden_act"};
constexpr HfName kNames[] = {
    {"post_attention_norm", "post_attention_layernorm"},
    {"ffn_norm", "pre_feedforward_layernorm"},
    {"post_ffw_norm", "post_feedforward_layernorm"},
};

std::vector<bool> periodic(int64_t layers, int64_t period) {
  std::vector<bool> local;
  for (int64_t i = 0; i < layers; ++i) local.push_back((i + 1) % period != 0);
  return local;
}

// A GGUF: one number p, and every p-th layer is global; or one flag a layer, true is local. Absent: p = 6, as in every
// Gemma 3.
std::vector<bool> read_gguf_pattern(ConfigReader& read, int64_t layers) {
  constexpr const char* kName = "attention.sliding_window_pattern";
  const Checkpoint& checkpoint = read.source().checkpoint();
  if (!meta_is_array(checkpoint, read.key(kName)))
    return periodic(layers, read.count_or("global_layer_period", kName, 6, "that of every Gemma 3"));
  read.harmless(kName);
  auto flags = meta_bool_array(checkpoint, read.key(kName));
  if (!flags) {
    read.fault(flags.error().code, "{}", flags.error().message);
  } else if ((*flags)->size() != static_cast<size_t>(layers)) {
    read.fault(ErrorCode::kConfigValue, "key '{}' has {} items, expected one a layer, {}", read.key(kName),
               (*flags)->size(), layers);
  } else {
    read.record("local_layers", "by layer", fmt::format("key {}", read.key(kName)));
    return **std::move(flags);
  }
  return periodic(layers, 6);
}

// A config.json: a type for each layer, or a period, or neither, which means 6. Files that hold both must agree.
std::vector<bool> read_hf_pattern(ConfigReader& read, const DecoderShape& shape) {
  const auto types = read_layer_types(read, shape);
  if (types) read.record("local_layers", "by layer", fmt::format("key {}", read.key("layer_types")));
  std::vector<bool> local = types.value_or(periodic(shape.layers, 6));
  for (const char* name : {"sliding_window_pattern", "_sliding_window_pattern"}) {
    if (!read.has(name)) continue;
    const auto by_period =
        periodic(shape.layers, read.count(types ? "stated_layer_period" : "global_layer_period", name));
    if (!types && std::string_view(name) == "sliding_window_pattern") {
      local = by_period;
    } else if (by_period != local) {
      read.fault(ErrorCode::kConfigValue, "key '{}' contradicts {}", read.key(name),
                 types ? fmt::format("key '{}'", read.key("layer_types")) : "the period of the layers");
    }
  }
  return local;
}

// query_pre_attn_scalar is not in a GGUF: it is the width of a head, but for the 27B model, where it is width / heads.
double read_scale(ConfigReader& read, const DecoderShape& c) {
  if (read.source().is_hf()) return 1 / std::sqrt(read.positive("query_pre_attn_scalar", "query_pre_attn_scalar"));
  if (read.has("attention.scale")) return read.positive("attention_scale", "attention.scale");
  const bool is_27b = c.layers == 62 && c.width == 5376 && c.heads == 32;
  const auto scalar = static_cast<double>(is_27b ? c.width / c.heads : c.head_width);
  read.record("attention_scale", fmt::format("{}^-0.5", scalar),
              is_27b ? "the shape of the 27B model: width / heads" : "width of a head");
  return 1 / std::sqrt(scalar);
}

double read_cap(ConfigReader& read, const char* field, const char* name) {
  return read.has(name) ? read.positive(field, name) : 0;
}

// Scaling is for the long reach of global layers; local ones rotate by plain positions.
void read_ropes(ConfigReader& read, Gemma3Config& c) {
  if (read.source().is_hf()) {
    c.global_rope = read_hf_rope(read, c.shape, {.layer_type = "full_attention"});
    c.local_rope =
        read_hf_rope(read, c.shape, {.layer_type = "sliding_attention", .base = "rope_local_base_freq", .scaling = ""});
    return;
  }
  c.global_rope = read_rope(read, c.shape, RopePairing::kHalf);
  c.local_rope = c.global_rope;
  c.local_rope.linear_factor = 1;
  c.local_rope.base = read.has("rope.freq_base_swa") ? read.positive("rope_base_local", "rope.freq_base_swa") : 10000;
  if (!read.has("rope.freq_base_swa"))
    read.record("rope_base_local", "10000", "that of every Gemma 3 (key gemma3.rope.freq_base_swa is absent)");
}

}  // namespace

std::span<const HfDialect> gemma3_dialects() {
  static constexpr HfDialect kDialects[] = {{.model_type = "gemma3_text",
                                             .class_name = "Gemma3TextConfig",
                                             .defaults = kDefaults,
                                             .only = kOnly,
                                             .harmless = kHarmless,
                                             .names = kNames}};
  return kDialects;
}

Result<std::unique_ptr<Model>> make_gemma3(const ModelSource& source, const ModelOptions& options, Warnings& warnings) {
  ConfigReader read(source, warnings);
  Gemma3Config c;
  c.shape = read_decoder_shape(read, options);
  read_ropes(read, c);
  c.window = read.count("window", "attention.sliding_window");
  c.local = source.is_hf() ? read_hf_pattern(read, c.shape) : read_gguf_pattern(read, c.shape.layers);
  c.attention_scale = read_scale(read, c.shape);
  c.attention_softcap = read_cap(read, "attention_softcap", "attn_logit_softcapping");
  c.final_softcap = read_cap(read, "final_softcap", "final_logit_softcapping");
  c.norm_offset = source.is_hf() ? 1 : 0;
  read.record("norm_offset", source.is_hf() ? "1" : "0", "what norm weights lack in this container");
  read.record("activation", "gelu_tanh", "that of every Gemma 3");
  HR_TRY(auto entries, std::move(read).finish());
  return std::unique_ptr<Model>(std::make_unique<Gemma3>(std::move(c), std::move(entries), source.names()));
}

}  // namespace headrace
