#include "models/decoder_config.h"

#include <algorithm>

namespace headrace {

namespace {

// A count that the tensor table does not bear out is refused before anything is sized by it.
int64_t layer_count(ConfigReader& read, const Checkpoint& checkpoint) {
  const int64_t layers = read.count("layers", "block_count");
  for (int64_t i = 0; i < layers; ++i) {
    const std::string first = block_tensor(i, "attn_norm");
    if (checkpoint.find(first) != nullptr) continue;
    read.fault(ErrorCode::kTensorLink, "key '{}' is {}, but tensor '{}' is missing", read.key("block_count"), layers,
               first);
    return std::max<int64_t>(1, i);
  }
  return layers;
}

int64_t used_layers(ConfigReader& read, int64_t layers, const ModelOptions& options) {
  if (!options.layers) return layers;
  if (*options.layers < 1 || *options.layers > layers)
    read.fault(ErrorCode::kOptions, "{} layers are asked for, and the model has {}", *options.layers, layers);
  read.record("used_layers", fmt::format("{}", *options.layers), "option --layers");
  return std::clamp<int64_t>(*options.layers, 1, layers);
}

// A key that may hold one number or one for each layer, whose layers must all have the same.
int64_t same_in_all(ConfigReader& read, std::string_view name, const std::vector<int64_t>& each) {
  for (const int64_t n : each)
    if (n != each.front()) {
      read.fault(ErrorCode::kConfigUnsupported, "key '{}' differs between layers, which is not supported",
                 read.key(name));
      break;
    }
  return each.front();
}

int64_t hidden_width(ConfigReader& read, int64_t layers) {
  constexpr std::string_view kName = "feed_forward_length";
  if (!read.has(kName)) return read.count("hidden", kName);  // the fault
  return same_in_all(read, kName, read.count_each("hidden", kName, layers, 1, ""));
}

void read_heads(ConfigReader& read, DecoderShape& c) {
  c.heads = read.count("heads", "attention.head_count");
  constexpr std::string_view kKvHeads = "attention.head_count_kv";
  c.kv_heads =
      same_in_all(read, kKvHeads, read.count_each("kv_heads", kKvHeads, c.layers, c.heads, "every head has its own"));
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

// The rows of the embedding are the vocabulary: tokenizer lists and vocab_size keys are often padded or stale.
int64_t vocabulary_rows(ConfigReader& read, const Checkpoint& checkpoint) {
  read.harmless("vocab_size");
  const TensorEntry* table = checkpoint.find("token_embd.weight");
  if (table == nullptr || table->shape.size() != 2) {
    read.fault(ErrorCode::kTensorLink, "tensor 'token_embd.weight' {}, expected [vocabulary, embedding length]",
               table == nullptr ? "is missing" : fmt::format("has shape [{}]", fmt::join(table->shape, ", ")));
    return 1;
  }
  read.record("vocabulary", fmt::format("{}", table->shape[0]), "rows of tensor token_embd.weight");
  return table->shape[0];
}

// What positions are divided by.
double linear_factor(ConfigReader& read) {
  const auto type = read.text("rope.scaling.type");
  const bool linear = type == "linear";
  if (type && !linear && *type != "none")
    read.fault(ErrorCode::kConfigUnsupported, "key '{}' is '{}', which is not supported", read.key("rope.scaling.type"),
               *type);
  read.only("rope.scaling.attn_factor", 1);
  read.harmless("rope.scaling.original_context_length");
  read.harmless("rope.scaling.finetuned");
  if (type && !linear) {
    read.only("rope.scaling.factor", 1);
    read.only("rope.scale_linear", 1);
    return 1;
  }
  // The old key still counts where the new ones are absent.
  if (!type && !read.has("rope.scaling.factor")) {
    if (read.has("rope.scale_linear")) return read.positive("rope_linear_factor", "rope.scale_linear");
    return 1;
  }
  const double factor = read.positive_or("rope_linear_factor", "rope.scaling.factor", 1, "no scaling");
  read.only("rope.scale_linear", factor);  // beside the new key it must agree
  return factor;
}

}  // namespace

std::string block_tensor(int64_t layer, std::string_view what, std::string_view kind) {
  return fmt::format("blk.{}.{}.{}", layer, what, kind);
}

bool has_bias(const Checkpoint& checkpoint, const DecoderShape& shape, std::string_view what) {
  for (int64_t i = 0; i < shape.layers; ++i)
    if (checkpoint.find(block_tensor(i, what, "bias")) != nullptr) return true;
  return false;
}

DecoderShape read_decoder_shape(ConfigReader& read, const Checkpoint& checkpoint, const ModelOptions& options) {
  DecoderShape c;
  c.layers = layer_count(read, checkpoint);
  c.used_layers = used_layers(read, c.layers, options);
  c.context = read.count("context", "context_length");
  c.width = read.count("width", "embedding_length");
  c.hidden = hidden_width(read, c.layers);
  c.eps = read.positive("norm_eps", "attention.layer_norm_rms_epsilon");
  read_heads(read, c);
  c.vocabulary = vocabulary_rows(read, checkpoint);
  c.tied = checkpoint.find("output.weight") == nullptr;
  read.record("tied_head", c.tied ? "yes" : "no",
              c.tied ? "tensor output.weight is absent" : "tensor output.weight is present");
  return c;
}

RopeConfig read_rope(ConfigReader& read, const DecoderShape& shape, RopePairing pairing) {
  RopeConfig out;
  out.pairing = pairing;
  read.record("rope_pairing", pairing == RopePairing::kInterleaved ? "interleaved" : "half",
              "row order of q and k in GGUF files of this architecture");
  out.rotated = read.count_or("rope_width", "rope.dimension_count", shape.head_width, "the whole head");
  if (read.good() && (out.rotated % 2 != 0 || out.rotated > shape.head_width))
    read.fault(ErrorCode::kConfigValue, "key '{}' is {}, expected an even number up to {}",
               read.key("rope.dimension_count"), out.rotated, shape.head_width);
  out.base = read.positive_or("rope_base", "rope.freq_base", 10000, "llama.cpp's default");
  out.linear_factor = linear_factor(read);
  return out;
}

}  // namespace headrace
