#include "models/decoder_config.h"

#include <algorithm>

#include "formats/meta.h"
#include "formats/same_tensor.h"

namespace headrace {

namespace {

// Beyond any model that exists; a graph takes some 50 KB a layer, however narrow the layer is.
constexpr int64_t kMostLayers = 512;
// The same for heads; RoPE computes a number for every pair of a head before the tensors are looked at.
constexpr int64_t kWidestHead = int64_t{1} << 16;

// A count that the tensor table does not bear out is refused before anything is sized by it.
int64_t layer_count(ConfigReader& read) {
  const int64_t layers = read.count("layers", "block_count");
  if (layers > kMostLayers) {
    read.fault(ErrorCode::kConfigValue, "key '{}' is {}, expected at most {}", read.key("block_count"), layers,
               kMostLayers);
    return 1;
  }
  for (int64_t i = 0; i < layers; ++i) {
    const std::string first = read.source().names()(block_tensor(i, "attn_norm"));
    if (read.source().checkpoint().find(first) != nullptr) continue;
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
  if (c.head_width > kWidestHead) {
    read.fault(ErrorCode::kConfigValue, "heads are {} wide (key '{}'), expected at most {}", c.head_width,
               read.key("attention.key_length"), kWidestHead);
    c.head_width = 2;
  }
  if (read.good() && c.width % c.heads != 0 && c.head_width == c.width / c.heads)
    read.fault(ErrorCode::kConfigValue, "embedding length {} is not a multiple of {} heads", c.width, c.heads);
  if (read.source().is_hf()) return;  // no model type here has another width of values
  const int64_t value_width =
      read.count_or("value_width", "attention.value_length", c.head_width, "the width of a key head");
  if (read.good() && value_width != c.head_width)
    read.fault(ErrorCode::kConfigUnsupported, "value heads are {} wide and key heads {}, which is not supported",
               value_width, c.head_width);
}

// The rows of the embedding are the vocabulary: a GGUF's tokenizer lists and vocab_size keys are often padded or stale.
// Hugging Face's classes refuse a vocab_size that is not theirs, and so do we.
int64_t vocabulary_rows(ConfigReader& read) {
  const std::string name = read.source().names()("token_embd.weight");
  const TensorEntry* table = read.source().checkpoint().find(name);
  if (table == nullptr || table->shape.size() != 2) {
    read.harmless("vocab_size");
    read.fault(ErrorCode::kTensorLink, "tensor '{}' {}, expected [vocabulary, embedding length]", name,
               table == nullptr ? "is missing" : fmt::format("has shape [{}]", fmt::join(table->shape, ", ")));
    return 1;
  }
  const int64_t rows = table->shape[0];
  read.record("vocabulary", fmt::format("{}", rows), fmt::format("rows of tensor {}", name));
  if (!read.source().is_hf()) {
    read.harmless("vocab_size");
  } else if (const int64_t stated = read.count("vocab_size", "vocab_size"); read.good() && stated != rows) {
    read.fault(ErrorCode::kTensorLink, "key '{}' is {}, but tensor '{}' has {} rows", read.key("vocab_size"), stated,
               name, rows);
  }
  return rows;
}

// A head that is there although the flag says tied: transformers 4 takes the embedding, transformers 5 the head if they
// differ. Equal ones are one parameter, others are refused.
void check_spare_head(ConfigReader& read, const std::string& head, const TensorEntry& entry) {
  const std::string embedding = read.source().names()("token_embd.weight");
  const TensorEntry* table = read.source().checkpoint().find(embedding);
  if (table == nullptr) return;  // reported with the vocabulary
  const auto same = compare_tensors(read.source().checkpoint(), *table, entry);
  if (!same) return read.fault(same.error().code, "{}", same.error().message);
  if (*same == Sameness::kDifferent)
    return read.fault(ErrorCode::kConfigUnsupported, "key '{}' is true, but tensor '{}' ({}) differs from '{}' ({})",
                      read.key("tie_word_embeddings"), head, info(entry.type).name, embedding, info(table->type).name);
  read.record("spare_head", "equal to the embedding", fmt::format("tensor {}", head));
}

void read_head(ConfigReader& read, DecoderShape& c) {
  const std::string head = read.source().names()("output.weight");
  const TensorEntry* entry = read.source().checkpoint().find(head);
  if (read.source().is_hf()) {
    c.tied = read.flag_or("tied_head", "tie_word_embeddings", false, "a head of its own");
    if (!c.tied || entry == nullptr) return;
    c.spare_head = head;
    return check_spare_head(read, head, *entry);
  }
  read.record("tied_head", entry == nullptr ? "yes" : "no",
              fmt::format("tensor {} is {}", head, entry == nullptr ? "absent" : "present"));
  c.tied = entry == nullptr;
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

std::optional<std::vector<bool>> read_layer_types(ConfigReader& read, const DecoderShape& shape) {
  constexpr std::string_view kName = "layer_types";
  if (!read.has(kName)) return std::nullopt;
  read.harmless(kName);
  const auto types = meta_string_array(read.source().checkpoint(), read.key(kName));
  std::vector<bool> local(static_cast<size_t>(shape.layers));
  if (!types) {
    read.fault(types.error().code, "{}", types.error().message);
    return local;
  }
  if ((*types)->size() != local.size()) {
    read.fault(ErrorCode::kConfigValue, "key '{}' has {} items, expected one a layer, {}", read.key(kName),
               (*types)->size(), shape.layers);
    return local;
  }
  for (size_t i = 0; i < local.size(); ++i) {
    const std::string& type = (**types)[i];
    local[i] = type == "sliding_attention";
    if (!local[i] && type != "full_attention")
      read.fault(ErrorCode::kConfigUnsupported, "key '{}' has {} for layer {}, expected full_attention or {}",
                 read.key(kName), describe({type}), i, "sliding_attention");
  }
  return local;
}

void read_full_attention(ConfigReader& read, const DecoderShape& shape) {
  const auto local = read_layer_types(read, shape);
  if (!local || std::find(local->begin(), local->end(), true) == local->end()) return;
  read.fault(ErrorCode::kConfigUnsupported, "key '{}' has local layers, which are not supported here",
             read.key("layer_types"));
}

std::string block_tensor(int64_t layer, std::string_view what, std::string_view kind) {
  return fmt::format("blk.{}.{}.{}", layer, what, kind);
}

bool has_bias(const ModelSource& source, const DecoderShape& shape, std::string_view what) {
  for (int64_t i = 0; i < shape.layers; ++i)
    if (source.find(block_tensor(i, what, "bias")) != nullptr) return true;
  return false;
}

DecoderShape read_decoder_shape(ConfigReader& read, const ModelOptions& options) {
  DecoderShape c;
  c.layers = layer_count(read);
  c.used_layers = used_layers(read, c.layers, options);
  c.context = read.count("context", "context_length");
  c.width = read.count("width", "embedding_length");
  c.hidden = hidden_width(read, c.layers);
  c.eps = read.positive("norm_eps", "attention.layer_norm_rms_epsilon");
  read_heads(read, c);
  c.vocabulary = vocabulary_rows(read);
  read_head(read, c);
  return c;
}

RopeConfig read_rope(ConfigReader& read, const DecoderShape& shape, RopePairing gguf) {
  if (read.source().is_hf()) return read_hf_rope(read, shape, {});
  RopeConfig out;
  out.pairing = gguf;
  read.record("rope_pairing", gguf == RopePairing::kInterleaved ? "interleaved" : "half",
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
