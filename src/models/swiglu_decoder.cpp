#include "models/swiglu_decoder.h"

#include <cmath>

#include "models/decoder_model.h"
#include "nn/layers.h"

namespace headrace {

namespace {

struct Attention {
  Linear q, k, v, output;
  std::optional<RmsNorm> q_norm, k_norm;
  Tensor operator()(const Tensor& x, const SwigluConfig& config, int64_t layer, const RopeTables& tables,
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

Tensor Attention::operator()(const Tensor& x, const SwigluConfig& config, int64_t layer, const RopeTables& tables,
                             const Tensor& positions, KvCache& kv) const {
  Tracer& t = x.tracer();
  const DecoderShape& shape = config.shape;
  const std::optional<RmsNorm> none;
  const auto project = [&](const char* name, const Linear& linear, const auto& norm, std::vector<int64_t> heads) {
    return in_scope(t, name, [&] {
      const Tensor split = linear.split_heads(x, std::move(heads));
      return norm ? (*norm)(split) : split;
    });
  };
  const Tensor queries = rope(project("q", q, q_norm, {shape.kv_heads, shape.group()}), tables, config.rope);
  const Tensor keys = rope(project("k", k, k_norm, {shape.kv_heads}), tables, config.rope);
  const Tensor values = project("v", v, none, {shape.kv_heads});
  const AttendOptions options{
      .scale = 1.0 / std::sqrt(static_cast<double>(shape.head_width)), .softcap = 0, .window = config.window};
  const Tensor mixed = kv.attend(layer, queries, keys, values, positions, options);
  return in_scope(t, "output", [&] { return output.merge_heads(mixed); });
}

Tensor FeedForward::operator()(const Tensor& x) const { return down(silu(gate(x)) * up(x)); }

Weights name_weights(const SwigluConfig& c, const TensorNames& names) {
  const auto linear = [&](int64_t layer, std::string_view what, bool bias) {
    Linear out{.weight = names(block_tensor(layer, what))};
    if (bias) out.bias = names(block_tensor(layer, what, "bias"));
    return out;
  };
  const auto norm = [&](int64_t layer, std::string_view what) {
    return RmsNorm{.weight = names(block_tensor(layer, what)), .eps = c.shape.eps};
  };
  Weights weights{.token_embd = {.weight = names("token_embd.weight")},
                  .blocks = {},
                  .output_norm = {.weight = names("output_norm.weight"), .eps = c.shape.eps},
                  .output = std::nullopt};
  if (!c.shape.tied) weights.output = Linear{.weight = names("output.weight")};
  for (int64_t i = 0; i < c.shape.layers; ++i) {
    Block block{.attn_norm = norm(i, "attn_norm"),
                .attn = {.q = linear(i, "attn_q", c.qkv_bias),
                         .k = linear(i, "attn_k", c.qkv_bias),
                         .v = linear(i, "attn_v", c.qkv_bias),
                         .output = linear(i, "attn_output", c.output_bias),
                         .q_norm = std::nullopt,
                         .k_norm = std::nullopt},
                .ffn_norm = norm(i, "ffn_norm"),
                .ffn = {.gate = linear(i, "ffn_gate", c.gate_bias),
                        .up = linear(i, "ffn_up", c.up_bias),
                        .down = linear(i, "ffn_down", c.down_bias)}};
    if (c.qk_norm) block.attn.q_norm = norm(i, "attn_q_norm");
    if (c.qk_norm) block.attn.k_norm = norm(i, "attn_k_norm");
    weights.blocks.push_back(std::move(block));
  }
  return weights;
}

std::vector<TensorSpec> tensor_table(const SwigluConfig& config, const Weights& weights) {
  const DecoderShape& c = config.shape;
  std::vector<TensorSpec> table{{weights.token_embd.weight, Role::kEmbedding, {c.vocabulary, c.width}}};
  if (config.rope.factors) table.push_back({*config.rope.factors, Role::kRopeFactors, {config.rope.rotated / 2}});
  for (int64_t i = 0; i < c.layers; ++i) {
    const Block& b = weights.blocks[static_cast<size_t>(i)];
    const bool used = i < c.used_layers;
    const auto norm = [&](const RmsNorm& n, int64_t width) { table.push_back({n.weight, Role::kNorm, {width}, used}); };
    const auto matmul = [&](const Linear& l, int64_t out, int64_t in) {
      table.push_back({l.weight, Role::kMatmul, {out, in}, used});
      if (l.bias) table.push_back({*l.bias, Role::kBias, {out}, used});
    };
    norm(b.attn_norm, c.width);
    matmul(b.attn.q, c.heads * c.head_width, c.width);
    matmul(b.attn.k, c.kv_heads * c.head_width, c.width);
    matmul(b.attn.v, c.kv_heads * c.head_width, c.width);
    matmul(b.attn.output, c.width, c.heads * c.head_width);
    if (b.attn.q_norm) norm(*b.attn.q_norm, c.head_width);
    if (b.attn.k_norm) norm(*b.attn.k_norm, c.head_width);
    norm(b.ffn_norm, c.width);
    matmul(b.ffn.gate, c.hidden, c.width);
    matmul(b.ffn.up, c.hidden, c.width);
    matmul(b.ffn.down, c.width, c.hidden);
  }
  table.push_back({weights.output_norm.weight, Role::kNorm, {c.width}});
  if (weights.output) table.push_back({weights.output->weight, Role::kMatmul, {c.vocabulary, c.width}});
  if (c.spare_head) table.push_back({*c.spare_head, Role::kMatmul, {c.vocabulary, c.width}, false});
  return table;
}

class SwigluDecoder final : public DecoderModel {
 public:
  SwigluDecoder(std::string_view architecture, SwigluConfig config, std::vector<ConfigEntry> entries, TensorNames names)
      : DecoderModel(architecture, std::move(entries), std::move(names)),
        config_(std::move(config)),
        weights_(name_weights(config_, this->names())),
        tensors_(tensor_table(config_, weights_)) {}

  [[nodiscard]] const std::vector<TensorSpec>& tensors() const override { return tensors_; }

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
    return in_scope(t, "output_norm", [&] { return weights_.output_norm(x); });
  }

  [[nodiscard]] Tensor head(const Tensor& hidden) const override {
    return in_scope(hidden.tracer(), "output",
                    [&] { return weights_.output ? (*weights_.output)(hidden) : weights_.token_embd.head(hidden); });
  }

 private:
  [[nodiscard]] const DecoderShape& shape() const override { return config_.shape; }

  SwigluConfig config_;
  Weights weights_;
  std::vector<TensorSpec> tensors_;
};

}  // namespace

std::unique_ptr<Model> make_swiglu_decoder(std::string_view architecture, SwigluConfig config,
                                           std::vector<ConfigEntry> entries, TensorNames names) {
  return std::make_unique<SwigluDecoder>(architecture, std::move(config), std::move(entries), std::move(names));
}

}  // namespace headrace
