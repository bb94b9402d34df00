// The configuration beside safetensors, flattened, and what it says of the model and the tokenizer. The input holds
// config.json, generation_config.json and tokenizer_config.json, one after the other with a mark between them.
#include "formats/config_json.h"
#include "formats/meta.h"
#include "models/model.h"
#include "target.h"
#include "tokenizer/pieces.h"

namespace {
constexpr std::string_view kMark = "=NEXTPART=";
constexpr const char* kNames[] = {"config.json", "generation_config.json", "tokenizer_config.json"};

// The index of the seeds' model, of one layer, so that a configuration is read beyond the first tensor it asks for. No
// file stands behind it: no weight is read for a configuration.
void add_tensors(headrace::Checkpoint& checkpoint) {
  const std::pair<const char*, std::vector<int64_t>> tensors[] = {
      {"model.embed_tokens.weight", {6, 4}},
      {"model.layers.0.input_layernorm.weight", {4}},
      {"model.layers.0.self_attn.q_proj.weight", {4, 4}},
      {"model.layers.0.self_attn.k_proj.weight", {2, 4}},
      {"model.layers.0.self_attn.v_proj.weight", {2, 4}},
      {"model.layers.0.self_attn.o_proj.weight", {4, 4}},
      {"model.layers.0.post_attention_layernorm.weight", {4}},
      {"model.layers.0.mlp.gate_proj.weight", {4, 4}},
      {"model.layers.0.mlp.up_proj.weight", {4, 4}},
      {"model.layers.0.mlp.down_proj.weight", {4, 4}},
      {"model.norm.weight", {4}},
  };
  for (const auto& [name, shape] : tensors) {
    checkpoint.by_name[name] = checkpoint.tensors.size();
    checkpoint.tensors.push_back({.name = name, .type = headrace::BlockType::kF32, .shape = shape});
  }
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
  if (const auto model = make_model(checkpoint, {}, warnings))
    static_cast<void>(link_weights(**model, checkpoint, warnings));
}
