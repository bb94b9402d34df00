// The configuration beside safetensors, flattened, and what it says of the model and the tokenizer. The input holds
// config.json, generation_config.json and tokenizer_config.json, one after the other with a mark between them.
#include <algorithm>

#include "exporter/export.h"
#include "formats/config_json.h"
#include "formats/meta.h"
#include "models/model.h"
#include "target.h"
#include "tokenizer/pieces.h"

namespace {
constexpr std::string_view kMark = "=NEXTPART=";
constexpr const char* kNames[] = {"config.json", "generation_config.json", "tokenizer_config.json"};

// A tensor of the seeds' tiny model, and which model types have it; none: all.
struct Part {
  std::string_view types;
  std::string_view name;
  std::vector<int64_t> shape;
};
const Part kBlock[] = {
    {"", "input_layernorm.weight", {4}},
    {"", "self_attn.q_proj.weight", {4, 4}},
    {"", "self_attn.k_proj.weight", {2, 4}},
    {"", "self_attn.v_proj.weight", {2, 4}},
    {"", "self_attn.o_proj.weight", {4, 4}},
    {"", "post_attention_layernorm.weight", {4}},
    {"", "mlp.gate_proj.weight", {4, 4}},
    {"", "mlp.up_proj.weight", {4, 4}},
    {"", "mlp.down_proj.weight", {4, 4}},
    {"qwen2", "self_attn.q_proj.bias", {4}},
    {"qwen2", "self_attn.k_proj.bias", {2}},
    {"qwen2", "self_attn.v_proj.bias", {2}},
    {"qwen3 gemma3_text", "self_attn.q_norm.weight", {2}},
    {"qwen3 gemma3_text", "self_attn.k_norm.weight", {2}},
    {"gemma3_text", "pre_feedforward_layernorm.weight", {4}},
    {"gemma3_text", "post_feedforward_layernorm.weight", {4}},
};

// The tensors that a tiny model of this type and number of layers has, so that its configuration is read to the end. No
// file stands behind them: no weight is read for a configuration.
void add_tensors(headrace::Checkpoint& checkpoint) {
  using headrace::meta_bool;
  const auto add = [&checkpoint](std::string name, std::vector<int64_t> shape) {
    checkpoint.by_name[name] = checkpoint.tensors.size();
    checkpoint.tensors.push_back(
        {.name = std::move(name), .type = headrace::BlockType::kF32, .shape = std::move(shape)});
  };
  const bool wrapped = checkpoint.metadata.contains("text_config.model_type");
  const std::string keys = wrapped ? "text_config." : "";
  const std::string prefix = wrapped ? "language_model.model." : "model.";
  const auto type = headrace::meta_string(checkpoint, keys + "model_type");
  const auto layers = headrace::meta_int(checkpoint, keys + "num_hidden_layers");
  const auto tied = meta_bool(checkpoint, keys + "tie_word_embeddings");
  add(prefix + "embed_tokens.weight", {6, 4});
  for (int64_t i = 0; i < std::clamp<int64_t>(layers ? layers->value_or(1) : 1, 1, 8); ++i)
    for (const Part& part : kBlock)
      if (part.types.empty() || (type && *type && part.types.find(**type) != std::string_view::npos))
        add(fmt::format("{}layers.{}.{}", prefix, i, part.name), part.shape);
  add(prefix + "norm.weight", {4});
  if (tied && *tied == false) add(wrapped ? "language_model.lm_head.weight" : "lm_head.weight", {6, 4});
}
}  // namespace

HR_FUZZ_TARGET(config) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  std::string_view rest = fuzz::text_of(input);
  for (const char* name : kNames) {
    const size_t end = rest.find(kMark);
    static_cast<void>(fuzz::put_file(name, rest.substr(0, end)));
    rest = end == std::string_view::npos ? "{}" : rest.substr(end + kMark.size());
  }
  const fuzz::MemoryBound bound(input.size());
  HeaderHash hash;
  auto metadata = read_configs(fuzz::folder(), hash);
  if (!metadata) return;
  Checkpoint checkpoint;
  checkpoint.kind = ContainerKind::kSafetensors;
  checkpoint.metadata = *std::move(metadata);
  for (const auto& [key, value] : checkpoint.metadata) {
    fuzz::expect(key.find("..") == std::string::npos && key.front() != '.' && key.back() != '.', "a key has a gap");
    static_cast<void>(describe(value));
  }
  static_cast<void>(tokenizer_facts(checkpoint));
  add_tensors(checkpoint);
  Warnings warnings;
  const auto model = make_model(checkpoint, {}, warnings);
  if (!model || !link_weights(**model, checkpoint, warnings)) return;
  static_cast<void>(tokenizer_facts(checkpoint, (*model)->vocabulary()));
  static_cast<void>(trace_model(**model, checkpoint, 1, warnings));
}
