// Architecture `llama` (Touvron et al. 2023, arXiv:2302.13971; GQA: Ainslie et al. 2023, arXiv:2305.13245): pre-norm
// blocks of grouped-query attention with RoPE and a SwiGLU feed-forward net. Keys and tensor names are llama.cpp's.
#include <cmath>

#include "formats/meta.h"
#include "models/config_reader.h"
#include "nn/layers.h"
#include "nn/rope.h"

namespace headrace {

namespace {

struct LlamaConfig {
  int64_t layers{};
  int64_t context{};
  int64_t width{};
  int64_t hidden{};  // of the feed-forward net
  int64_t heads{};
  int64_t kv_heads{};
  int64_t head_width{};
  int64_t vocabulary{};
  bool tied{};
  double eps{};
  RopeConfig rope;
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
  const auto project = [&](const char* name, const Linear& linear, int64_t heads) {
    const Scope scope(t, name);
    return linear.split_heads(x, heads);
  };
  const Tensor queries = rope(project("q", q, config.heads), tables, config.rope);
  const Tensor keys = rope(project("k", k, config.kv_heads), tables, config.rope);
  const Tensor values = project("v", v, config.kv_heads);
  const AttendOptions options{.scale = 1.0 / std::sqrt(static_cast<double>(config.head_width))};
  const Tensor mixed = kv.attend(layer, queries, keys, values, positions, options);
  const Scope scope(t, "output");
  return output.merge_heads(mixed);
}

Tensor FeedForward::operator()(const Tensor& x) const { return down(silu(gate(x)) * up(x)); }

Weights name_weights(const LlamaConfig& config) {
  Weights weights{.token_embd = {.weight = "token_embd.weight"},
                  .blocks = {},
                  .output_norm = {.weight = "output_norm.weight", .eps = config.eps},
                  .output = std::nullopt};
  if (!config.tied) weights.output = Linear{.weight = "output.weight"};
  for (int64_t i = 0; i < config.layers; ++i) {
    const auto name = [&](const char* what) { return fmt::format("blk.{}.{}.weight", i, what); };
    weights.blocks.push_back({.attn_norm = {.weight = name("attn_norm"), .eps = config.eps},
                              .attn = {.q = {.weight = name("attn_q")},
                                       .k = {.weight = name("attn_k")},
                                       .v = {.weight = name("attn_v")},
                                       .output = {.weight = name("attn_output")}},
                              .ffn_norm = {.weight = name("ffn_norm"), .eps = config.eps},
                              .ffn = {.gate = {.weight = name("ffn_gate")},
                                      .up = {.weight = name("ffn_up")},
                                      .down = {.weight = name("ffn_down")}}});
  }
  return weights;
}

std::vector<TensorSpec> tensor_table(const LlamaConfig& c, const Weights& weights) {
  std::vector<TensorSpec> table{{weights.token_embd.weight, Role::kEmbedding, {c.vocabulary, c.width}}};
  for (const Block& b : weights.blocks) {
    table.push_back({b.attn_norm.weight, Role::kNorm, {c.width}});
    table.push_back({b.attn.q.weight, Role::kMatmul, {c.heads * c.head_width, c.width}});
    table.push_back({b.attn.k.weight, Role::kMatmul, {c.kv_heads * c.head_width, c.width}});
    table.push_back({b.attn.v.weight, Role::kMatmul, {c.kv_heads * c.head_width, c.width}});
    table.push_back({b.attn.output.weight, Role::kMatmul, {c.width, c.heads * c.head_width}});
    table.push_back({b.ffn_norm.weight, Role::kNorm, {c.width}});
    table.push_back({b.ffn.gate.weight, Role::kMatmul, {c.hidden, c.width}});
    table.push_back({b.ffn.up.weight, Role::kMatmul, {c.hidden, c.width}});
    table.push_back({b.ffn.down.weight, Role::kMatmul, {c.width, c.hidden}});
  }
  table.push_back({weights.output_norm.weight, Role::kNorm, {c.width}});
  if (weights.output) table.push_back({weights.output->weight, Role::kMatmul, {c.vocabulary, c.width}});
  return table;
}

// A count that the tensor table does not bear out is refused before anything is sized by it.
int64_t layer_count(ConfigReader& read, const Checkpoint& checkpoint) {
  const int64_t layers = read.count("layers", "block_count");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string first = fmt::format("blk.{}.attn_norm.weight", i);
    if (checkpoint.find(first) != nullptr) continue;
    read.fault(ErrorCode::kTensorLink, "key '{}' is {}, but tensor '{}' is missing", read.key("block_count"), layers,
               first);
    return std::max<int64_t>(1, i);
  }
  return layers;
}

void read_heads(ConfigReader& read, LlamaConfig& c) {
  c.heads = read.count("heads", "attention.head_count");
  const auto kv = read.count_each("kv_heads", "attention.head_count_kv", c.layers, c.heads, "every head has its own");
  c.kv_heads = kv.front();
  for (const int64_t n : kv)
    if (n != c.kv_heads)
      return read.fault(ErrorCode::kConfigUnsupported, "key '{}' differs between layers, which is not supported",
                        read.key("attention.head_count_kv"));
  if (read.good() && c.heads % c.kv_heads != 0)
    read.fault(ErrorCode::kConfigValue, "{} query heads do not divide into {} key heads", c.heads, c.kv_heads);
  c.head_width = read.count_or("head_width", "attention.key_length", std::max<int64_t>(1, c.width / c.heads),
                               "embedding length / heads");
  if (read.good() && c.width % c.heads != 0 && c.head_width == c.width / c.heads)
    read.fault(ErrorCode::kConfigValue, "embedding length {} is not a multiple of {} heads", c.width, c.heads);
  const int64_t value_width =
      read.count_or("value_width", "attention.value_length", c.head_width, "the width of a key head");
  if (read.good() && value_width != c.head_width)
    read.fault(ErrorCode::kConfigUnsupported, "value heads are {} wide and key heads {}, which is not supported",
               value_width, c.head_width);
}

void read_rope(ConfigReader& read, LlamaConfig& c) {
  c.rope.pairing = RopePairing::kInterleaved;
  read.record("rope_pairing", "interleaved", "row order of q and k in GGUF files of this architecture");
  c.rope.rotated = read.count_or("rope_width", "rope.dimension_count", c.head_width, "the whole head");
  if (read.good() && (c.rope.rotated % 2 != 0 || c.rope.rotated > c.head_width))
    read.fault(ErrorCode::kConfigValue, "key '{}' is {}, expected an even number up to {}",
               read.key("rope.dimension_count"), c.rope.rotated, c.head_width);
  c.rope.base = read.positive_or("rope_base", "rope.freq_base", 10000, "llama.cpp's default");
  const auto scaling = read.text("rope.scaling.type");
  if (scaling && *scaling != "none")
    read.fault(ErrorCode::kConfigUnsupported, "key '{}' is '{}', which is not supported", read.key("rope.scaling.type"),
               *scaling);
  read.only("rope.scaling.factor", 1);
  read.only("rope.scaling.attn_factor", 1);
  read.only("rope.scale_linear", 1);
  read.harmless("rope.scaling.original_context_length");
  read.harmless("rope.scaling.finetuned");
}

// The rows of the embedding are the vocabulary: tokenizer lists and vocab_size keys are often padded or stale.
int64_t vocabulary_rows(ConfigReader& read, const Checkpoint& checkpoint) {
  const TensorEntry* table = checkpoint.find("token_embd.weight");
  if (table == nullptr || table->shape.size() != 2) {
    read.fault(ErrorCode::kTensorLink, "tensor 'token_embd.weight' {}, expected [vocabulary, embedding length]",
               table == nullptr ? "is missing" : fmt::format("has shape [{}]", fmt::join(table->shape, ", ")));
    return 1;
  }
  read.record("vocabulary", fmt::format("{}", table->shape[0]), "rows of tensor token_embd.weight");
  return table->shape[0];
}

class Llama final : public Model {
 public:
  Llama(LlamaConfig config, std::vector<ConfigEntry> entries)
      : config_(config),
        entries_(std::move(entries)),
        weights_(name_weights(config)),
        tensors_(tensor_table(config, weights_)) {}

  [[nodiscard]] std::string_view architecture() const override { return "llama"; }
  [[nodiscard]] const std::vector<ConfigEntry>& config() const override { return entries_; }
  [[nodiscard]] const std::vector<TensorSpec>& tensors() const override { return tensors_; }
  [[nodiscard]] int64_t vocabulary() const override { return config_.vocabulary; }
  [[nodiscard]] int64_t context_length() const override { return config_.context; }
  [[nodiscard]] bool tied_head() const override { return config_.tied; }

  [[nodiscard]] Tensor forward(const Tensor& tokens, const Tensor& positions, KvCache& kv) const override {
    Tracer& t = tokens.tracer();
    Tensor x = in_scope(t, "token_embd", [&] { return weights_.token_embd(tokens); });
    const RopeTables tables = in_scope(t, "rope", [&] { return rope_tables(positions, config_.rope); });
    for (int64_t i = 0; i < config_.layers; ++i) {
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

}  // namespace

Result<std::unique_ptr<Model>> make_llama(const Checkpoint& checkpoint, Warnings& warnings) {
  ConfigReader read(checkpoint, "llama", warnings);
  LlamaConfig c;
  c.layers = layer_count(read, checkpoint);
  c.context = read.count("context", "context_length");
  c.width = read.count("width", "embedding_length");
  c.hidden = read.count("hidden", "feed_forward_length");
  c.eps = read.positive("norm_eps", "attention.layer_norm_rms_epsilon");
  read_heads(read, c);
  read_rope(read, c);
  c.vocabulary = vocabulary_rows(read, checkpoint);
  c.tied = checkpoint.find("output.weight") == nullptr;
  read.record("tied_head", c.tied ? "yes" : "no",
              c.tied ? "tensor output.weight is absent" : "tensor output.weight is present");
  read.harmless("vocab_size");
  read.only("expert_count", 0);
  read.only("expert_used_count", 0);
  HR_TRY(auto entries, std::move(read).finish());
  return std::unique_ptr<Model>(std::make_unique<Llama>(c, std::move(entries)));
}

}  // namespace headrace
