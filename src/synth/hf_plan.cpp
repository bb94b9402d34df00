// A directory as transformers writes it: config.json, and model.safetensors or its shards and their index.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/checked.h"
#include "formats/config_json.h"
#include "formats/safetensors_writer.h"
#include "synth/plan.h"

namespace headrace::synth_detail {

namespace {

// Numbers of a shape by our names of their keys.
struct Count {
  std::string_view key;
  int64_t SynthShape::*field{};
};
constexpr Count kCounts[] = {
    {"block_count", &SynthShape::layers},
    {"context_length", &SynthShape::context},
    {"embedding_length", &SynthShape::width},
    {"feed_forward_length", &SynthShape::hidden},
    {"attention.head_count", &SynthShape::heads},
    {"attention.head_count_kv", &SynthShape::kv_heads},
    {"attention.key_length", &SynthShape::head_width},
    {"vocab_size", &SynthShape::vocabulary},
};

// torch's names of what synth_types offers.
struct TorchName {
  std::string_view type, torch;
};
constexpr TorchName kTorchNames[] = {{"BF16", "bfloat16"}, {"F16", "float16"}, {"F32", "float32"}};

Result<const HfDialect*> find_dialect(const SynthShape& shape) {
  for (const ArchitectureInfo& row : architecture_table())
    if (row.name == shape.architecture)
      for (const HfDialect& dialect : row.dialects())
        if (dialect.model_type == shape.model_type) return &dialect;
  return fail(ErrorCode::kArchitecture, "preset '{}': architecture '{}' has no model_type '{}'", shape.preset,
              shape.architecture, shape.model_type);
}

// Gemma3TextConfig -> Gemma3ForCausalLM
std::string model_class(std::string_view config_class) {
  for (const std::string_view tail : {"Config", "Text"})
    if (config_class.ends_with(tail)) config_class.remove_suffix(tail.size());
  return fmt::format("{}ForCausalLM", config_class);
}

nlohmann::json json_of(const HfValue& value) {
  return std::visit([](const auto& v) { return nlohmann::json(v); }, value.value);
}

// Says all that the dialect has, so that no reader falls back to a default of its own.
Result<nlohmann::json> config_of(const SynthOptions& options, const HfDialect& dialect) {
  const SynthShape& shape = options.shape;
  nlohmann::json out;
  for (const auto values : {dialect.defaults, dialect.only})
    for (const HfValue& value : values) out[std::string(value.key)] = json_of(value);
  out["model_type"] = dialect.model_type;
  out["architectures"] = nlohmann::json::array({model_class(dialect.class_name)});
  const auto* const torch = std::ranges::find(kTorchNames, options.types, &TorchName::type);
  HR_CHECK(torch != std::end(kTorchNames));
  out["torch_dtype"] = torch->torch;
  for (const Count& row : kCounts) out[std::string(hf_key(row.key))] = shape.*row.field;
  out["tie_word_embeddings"] = shape.tied != 0;
  out["rms_norm_eps"] = shape.eps;
  out["rope_theta"] = shape.rope_base;
  if (shape.linear_factor != 0) out["rope_scaling"] = {{"rope_type", "linear"}, {"factor", shape.linear_factor}};
  // To a class that has windows, null is no window, and an absent key its default.
  constexpr const char* kWindow = "sliding_window";
  if (out.contains(kWindow)) {
    out[kWindow] = shape.window == 0 ? nlohmann::json() : nlohmann::json(shape.window);
  } else if (shape.window != 0) {
    return fail(ErrorCode::kOptions, "window is {}, but model_type '{}' has none, expected 0", shape.window,
                dialect.model_type);
  }
  constexpr const char* kScalar = "query_pre_attn_scalar";
  if (out.contains(kScalar)) out[kScalar] = shape.attention_scalar != 0 ? shape.attention_scalar : shape.head_width;
  return out;
}

// What a reader of that config.json makes of it.
Result<std::unique_ptr<Model>> hf_model(const SynthShape& shape, const TensorNames& names, const std::string& config) {
  Checkpoint checkpoint;
  checkpoint.kind = ContainerKind::kSafetensors;
  HR_TRY_STATUS(flatten_config(config, kConfigFile, "", {}, checkpoint.metadata));
  add_first_tensors(checkpoint, names, shape);
  Warnings warnings;
  return make_model(checkpoint, {}, warnings);
}

bool is_query_or_key(std::string_view ours) {
  return ours.find(".attn_q.") != std::string_view::npos || ours.find(".attn_k.") != std::string_view::npos;
}

// The model's tensors. A GGUF of the same shape says what each is drawn as.
Result<std::vector<SynthTensor>> tensors_of(const SynthOptions& options, const TensorNames& names, const Model& model) {
  HR_TRY(const auto source, gguf_model(options.shape));
  std::unordered_map<std::string, std::string> ours;
  for (const TensorSpec& spec : source->tensors()) ours[names(spec.name)] = spec.name;
  const bool interleaved = config_value(*source, "rope_pairing") == "interleaved";
  const bool lacks_one = config_value(model, "norm_offset") == "1";
  const auto types = block_type_table();
  const auto row = std::ranges::find(types, options.types, &BlockTypeInfo::name);
  HR_CHECK(row != types.end());
  std::vector<SynthTensor> out;
  out.reserve(model.tensors().size());
  for (const TensorSpec& spec : model.tensors()) {
    const auto elements = checked_product(spec.shape);
    const auto bytes = elements ? checked_mul(*elements, row->block_bytes) : std::nullopt;
    if (!bytes)
      return fail(ErrorCode::kSafetensors, "tensor '{}' [{}]: its size overflows", spec.name,
                  fmt::join(spec.shape, ", "));
    const auto known = ours.find(spec.name);
    SynthTensor t{.name = spec.name,
                  .source = known == ours.end() ? spec.name : known->second,
                  .type = static_cast<BlockType>(row - types.begin()),
                  .shape = spec.shape,
                  .is_norm = spec.role == Role::kNorm,
                  .length_bytes = static_cast<uint64_t>(*bytes)};
    if (t.is_norm && lacks_one) t.norm_offset = 1;
    if (interleaved && is_query_or_key(t.source)) t.half_paired = options.shape.head_width;
    out.push_back(std::move(t));
  }
  return out;
}

Result<SynthFile> file_of(std::string name, std::vector<SynthTensor> tensors) {
  std::vector<OutTensor> rows;
  rows.reserve(tensors.size());
  for (const SynthTensor& t : tensors)
    rows.push_back(
        {.name = t.name, .dtype = info(t.type).plain.value(), .shape = t.shape, .length_bytes = t.length_bytes});
  // Without this entry transformers does not take the file.
  HR_TRY(ArchiveLayout layout, layout_safetensors(rows, {{"format", "pt"}}));
  for (size_t i = 0; i < tensors.size(); ++i) tensors[i].offset_bytes = layout.offsets_bytes[i];
  return SynthFile{.name = std::move(name),
                   .head_bytes = std::move(layout.header_bytes),
                   .tensors = std::move(tensors),
                   .total_bytes = layout.total_bytes};
}

SynthFile text_file(std::string name, std::string text) {
  SynthFile file{.name = std::move(name), .head_bytes = std::move(text), .tensors = {}};
  file.total_bytes = file.head_bytes.size();
  return file;
}

SynthFile index_of(const std::vector<SynthFile>& shards) {
  nlohmann::json map;
  uint64_t total = 0;
  for (const SynthFile& shard : shards)
    for (const SynthTensor& t : shard.tensors) {
      map[t.name] = shard.name;
      total += t.length_bytes;
    }
  const nlohmann::json index{{"metadata", {{"total_size", total}}}, {"weight_map", std::move(map)}};
  return text_file("model.safetensors.index.json", index.dump(2) + "\n");
}

}  // namespace

Result<std::vector<SynthFile>> plan_hf(const SynthOptions& options) {
  HR_TRY(const HfDialect* dialect, find_dialect(options.shape));
  HR_TRY(const nlohmann::json config, config_of(options, *dialect));
  const std::string text = config.dump(2) + "\n";
  const TensorNames names("model.", "lm_head", dialect->names);
  HR_TRY(const auto model, hf_model(options.shape, names, text));
  HR_TRY(auto tensors, tensors_of(options, names, *model));
  auto parts = parts_of(std::move(tensors), options.split_bytes);
  std::vector<SynthFile> files;
  for (size_t i = 0; i < parts.size(); ++i) {
    HR_TRY(SynthFile file,
           file_of(fmt::format("model{}.safetensors", part_suffix(i, parts.size())), std::move(parts[i])));
    files.push_back(std::move(file));
  }
  if (files.size() > 1) files.push_back(index_of(files));
  // The last to appear: a directory without it is no checkpoint.
  files.push_back(text_file(std::string(kConfigFile), text));
  return files;
}

}  // namespace headrace::synth_detail
