// Architecture `llama` (Touvron et al. 2023, arXiv:2302.13971; GQA: Ainslie et al. 2023, arXiv:2305.13245): pre-norm
// blocks of grouped-query attention with RoPE and a SwiGLU feed-forward net. Keys and tensor names are llama.cpp's.
#include <cmath>

#include "models/decoder_config.h"
#include "nn/layers.h"

namespace headrace {

namespace {

constexpr const char* kRopeFactors = "rope_freqs.weight";

struct LlamaConfig {
  DecoderShape shape;
  RopeConfig rope;
  // Linears that have a bias: by presence in the checkpoint, not by a flag.
  bool qkv_bias{}, output_bias{}, gate_bias{}, up_bias{}, down_bias{};
};

struct Attention {
  Linear q, k, v, output;
  Tensor operator()(const Tensor& x, const LlamaConfig& config, int64_t layer, const RopeTables& tables,
                    const Tensor& positions, KvCache& kv) const;
};

struct FeedForward {
  Linear gate, up, down;
  Tensor operator()(const Tensor& x) const;
};

struct Block {
  RmsNorm attn_norm;
  Attention attn;
  RmsNorm ffn_norm;
  FeedForward ffn;
};

struct Weights {
  Embedding token_embd;
  std::vector<Block> blocks;
  RmsNorm output_norm;
  std::optional<Linear> output;  // absent: the head is tied to the embedding
};

Tensor Attention::operator()(const Tensor& x, const LlamaConfig& config, int64_t layer, const RopeTables& tables,
                             const Tensor& positions, KvCache& kv) const {
  Tracer& t = x.tracer();
  const DecoderShape& shape = config.shape;
  const auto project = [&](const char* name, const Linear& linear, std::vector<int64_t> heads) {
    return in_scope(t, name, [&] { return linear.split_heads(x, std::move(heads)); });
  };
  const Tensor queries = rope(project("q", q, {shape.kv_heads, shape.group()}), tables, config.rope);
  const Tensor keys = rope(project("k", k, {shape.kv_heads}), tables, config.rope);
  const Tensor values = project("v", v, {shape.kv_heads});
  const AttendOptions options{.scale = 1.0 / std::sqrt(static_cast<double>(shape.head_width))};
  const Tensor mixed = kv.attend(layer, queries, keys, values, positions, options);
  return in_scope(t, "output", [&] { return output.merge_heads(mixed); });
}

Tensor FeedForward::operator()(const Tensor& x) const { return down(silu(gate(x)) * up(x)); }

Linear linear(int64_t layer, std::string_view what, bool bias) {
  Linear out{.weight = block_tensor(layer, what)};
  if (bias) out.bias = block_tensor(layer, what, "bias");
  return out;
}

Weights name_weights(const LlamaConfig& c) {
  Weights weights{.token_embd = {.weight = "token_embd.weight"},
                  .blocks = {},
                  .output_norm = {.weight = "output_norm.weight", .eps = c.shape.eps},
                  .output = std::nullopt};
  if (!c.shape.tied) weights.output = Linear{.weight = "output.weight"};
  for (int64_t i = 0; i < c.shape.layers; ++i)
    weights.blocks.push_back({.attn_norm = {.weight = block_tensor(i, "attn_norm"), .eps = c.shape.eps},
                              .attn = {.q = linear(i, "attn_q", c.qkv_bias),
                                       .k = linear(i, "attn_k", c.qkv_bias),
                                       .v = linear(i, "attn_v", c.qkv_bias),
                                       .output = linear(i, "attn_output", c.output_bias)},
                              .ffn_norm = {.weight = block_tensor(i, "ffn_norm"), .eps = c.shape.eps},
                              .ffn = {.gate = linear(i, "ffn_gate", c.gate_bias),
                                      .up = linear(i, "ffn_up", c.up_bias),
                                      .down = linear(i, "ffn_down", c.down_bias)}});
  return weights;
}

std::vector<TensorSpec> tensor_table(const LlamaConfig& config, const Weights& weights) {
  const DecoderShape& c = config.shape;
  std::vector<TensorSpec> table{{weights.token_embd.weight, Role::kEmbedding, {c.vocabulary, c.width}}};
  if (config.rope.factors) table.push_back({*config.rope.factors, Role::kRopeFactors, {config.rope.rotated / 2}});
  for (int64_t i = 0; i < c.layers; ++i) {
    const Block& b = weights.blocks[static_cast<size_t>(i)];
    const bool used = i < c.used_layers;
    const auto norm = [&](const RmsNorm& n) { table.push_back({n.weight, Role::kNorm, {c.width}, used}); };
    const auto matmul = [&](const Linear& l, int64_t out, int64_t in) {
      table.push_back({l.weight, Role::kMatmul, {out, in}, used});
      if (l.bias) table.push_back({*l.bias, Role::kBias, {out}, used});
    };
    norm(b.attn_norm);
    matmul(b.attn.q, c.heads * c.head_width, c.width);
    matmul(b.attn.k, c.kv_heads * c.head_width, c.width);
    matmul(b.attn.v, c.kv_heads * c.head_width, c.width);
    matmul(b.attn.output, c.width, c.heads * c.head_width);
    norm(b.ffn_norm);
    matmul(b.ffn.gate, c.hidden, c.width);
    matmul(b.ffn.up, c.hidden, c.width);
    matmul(b.ffn.down, c.width, c.hidden);
  }
  table.push_back({weights.output_norm.weight, Role::kNorm, {c.width}});
  if (weights.output) table.push_back({weights.output->weight, Role::kMatmul, {c.vocabulary, c.width}});
  return table;
}

class Llama final : public Model {
 public:
  Llama(LlamaConfig config, std::vector<ConfigEntry> entries)
      : config_(std::move(config)),
        entries_(std::move(entries)),
        weights_(name_weights(config_)),
        tensors_(tensor_table(config_, weights_)) {}

  [[nodiscard]] std::string_view architecture() const override { return "llama"; }
  [[nodiscard]] const std::vector<ConfigEntry>& config() const override { return entries_; }
  [[nodiscard]] const std::vector<TensorSpec>& tensors() const override { return tensors_; }
  [[nodiscard]] int64_t vocabulary() const override { return config_.shape.vocabulary; }
  [[nodiscard]] int64_t context_length() const override { return config_.shape.context; }
  [[nodiscard]] bool tied_head() const override { return config_.shape.tied; }

  [[nodiscard]] Tensor forward(const Tensor& tokens, const Tensor& positions, KvCache& kv) const override {
    Tracer& t = tokens.tracer();
    Tensor x = in_scope(t, "token_embd", [&] { return weights_.token_embd(tokens); });
    const RopeTables tables = in_scope(t, "rope", [&] { return rope_tables(positions, config_.rope); });
    for (int64_t i = 0; i < config_.shape.used_layers; ++i) {
      const Scope block_scope(t, fmt::format("blk.{}", i));
      const Block& b = weights_.blocks[static_cast<size_t>(i)];
      const Tensor a = in_scope(t, "attn_norm", [&] { return b.attn_norm(x); });
      x = x + in_scope(t, "attn", [&] { return b.attn(a, config_, i, tables, positions, kv); });
      const Tensor f = in_scope(t, "ffn_norm", [&] { return b.ffn_norm(x); });
      x = x + in_scope(t, "ffn", [&] { return b.ffn(f); });
    }
    x = in_scope(t, "output_norm", [&] { return weights_.output_norm(x); });
    return in_scope(t, "output", [&] { return weights_.output ? (*weights_.output)(x) : weights_.token_embd.head(x); });
  }

 private:
  LlamaConfig config_;
  std::vector<ConfigEntry> entries_;
  Weights weights_;
  std::vector<TensorSpec> tensors_;
};

// q, k and v have biases together or not at all; the tensor table then names what is missing of a partial set.
void read_biases(const Checkpoint& checkpoint, LlamaConfig& c) {
  for (const char* what : {"attn_q", "attn_k", "attn_v"}) c.qkv_bias |= has_bias(checkpoint, c.shape, what);
  c.output_bias = has_bias(checkpoint, c.shape, "attn_output");
  c.gate_bias = has_bias(checkpoint, c.shape, "ffn_gate");
  c.up_bias = has_bias(checkpoint, c.shape, "ffn_up");
  c.down_bias = has_bias(checkpoint, c.shape, "ffn_down");
}

}  // namespace

Result<std::unique_ptr<Model>> make_llama(const Checkpoint& checkpoint, const ModelOptions& options,
                                          Warnings& warnings) {
  ConfigReader read(checkpoint, "llama", warnings);
  LlamaConfig c;
  c.shape = read_decoder_shape(read, checkpoint, options);
  c.rope = read_rope(read, c.shape, RopePairing::kInterleaved);
  if (checkpoint.find(kRopeFactors) != nullptr) c.rope.factors = kRopeFactors;
  read_biases(checkpoint, c);
  read.only("expert_count", 0);
  read.only("expert_used_count", 0);
  HR_TRY(auto entries, std::move(read).finish());
  return std::unique_ptr<Model>(std::make_unique<Llama>(std::move(c), std::move(entries)));
}

}  // namespace headrace
