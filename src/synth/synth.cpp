#include "synth/synth.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/checked.h"
#include "models/model.h"

namespace headrace {

namespace {

constexpr SynthShape kPresets[] = {
#define HR_PRESET(preset, architecture, layers, width, hidden, heads, kv_heads, head_width, vocabulary, context, tied, \
                  base, window, factor, eps)                                                                           \
  {preset,     architecture, layers, width, hidden, heads,  kv_heads, head_width,                                      \
   vocabulary, context,      tied,   base,  window, factor, eps},
#include "synth/presets.def"
};

constexpr SynthField kFields[] = {
    {"layers", &SynthShape::layers},
    {"width", &SynthShape::width},
    {"hidden", &SynthShape::hidden},
    {"heads", &SynthShape::heads},
    {"kv_heads", &SynthShape::kv_heads},
    {"head_width", &SynthShape::head_width},
    {"vocabulary", &SynthShape::vocabulary},
    {"context", &SynthShape::context},
    {"tied", &SynthShape::tied},
    {"window", &SynthShape::window},
};

constexpr std::string_view kMix = "Q4_K_M";

// llama.cpp gives these layers' attn_v and ffn_down two bits more (use_more_bits in its llama-quant.cpp).
bool is_favoured(int64_t layer, int64_t layers) {
  return layer < layers / 8 || layer >= 7 * layers / 8 || (layer - layers / 8) % 3 == 2;
}

// A row that is no whole number of superblocks takes what llama.cpp falls back to.
BlockType that_fits(BlockType type, int64_t row) {
  if (row % info(type).block_elements == 0) return type;
  const BlockType smaller = type == BlockType::kQ4_K ? BlockType::kQ5_0 : BlockType::kQ8_0;
  return row % info(smaller).block_elements == 0 ? smaller : BlockType::kF16;
}

std::optional<int64_t> layer_of(std::string_view name) {
  if (!name.starts_with("blk.")) return std::nullopt;
  int64_t layer = 0;
  for (const char c : name.substr(4)) {
    if (c == '.') return layer;
    layer = 10 * layer + (c - '0');
  }
  return std::nullopt;
}

BlockType mixed_type(const TensorSpec& spec, const SynthShape& shape) {
  const auto layer = layer_of(spec.name);
  const bool large = spec.name.find("attn_v.") != std::string::npos || spec.name.find("ffn_down.") != std::string::npos;
  // A tied embedding is the output matrix too, which the mix keeps at six bits.
  const bool output = spec.name == "output.weight" || (spec.role == Role::kEmbedding && shape.tied != 0);
  return output || (layer && large && is_favoured(*layer, shape.layers)) ? BlockType::kQ6_K : BlockType::kQ4_K;
}

BlockType type_of(const TensorSpec& spec, const SynthOptions& options) {
  if (spec.role != Role::kMatmul && spec.role != Role::kEmbedding) return BlockType::kF32;
  if (options.types == kMix) return that_fits(mixed_type(spec, options.shape), spec.shape.back());
  const auto table = block_type_table();
  const auto row = std::ranges::find(table, options.types, &BlockTypeInfo::name);
  HR_CHECK(row != table.end());
  return static_cast<BlockType>(row - table.begin());
}

MetaValue count(int64_t value) { return {static_cast<uint64_t>(value)}; }

std::map<std::string, MetaValue, std::less<>> metadata_of(const SynthShape& s) {
  const std::string a = std::string(s.architecture) + ".";
  std::map<std::string, MetaValue, std::less<>> out{
      {"general.architecture", {std::string(s.architecture)}},
      {"general.name", {fmt::format("synthetic {}", s.preset)}},
      {a + "block_count", count(s.layers)},
      {a + "context_length", count(s.context)},
      {a + "embedding_length", count(s.width)},
      {a + "feed_forward_length", count(s.hidden)},
      {a + "attention.head_count", count(s.heads)},
      {a + "attention.head_count_kv", count(s.kv_heads)},
      {a + "attention.key_length", count(s.head_width)},
      {a + "attention.value_length", count(s.head_width)},
      {a + "attention.layer_norm_rms_epsilon", {static_cast<double>(static_cast<float>(s.eps))}},
      {a + "rope.dimension_count", count(s.head_width)},
      {a + "rope.freq_base", {s.rope_base}},
  };
  if (s.window != 0) out[a + "attention.sliding_window"] = count(s.window);
  if (s.linear_factor != 0) {
    out[a + "rope.scaling.type"] = {std::string("linear")};
    out[a + "rope.scaling.factor"] = {s.linear_factor};
  }
  return out;
}

void add_tensor(Checkpoint& checkpoint, std::string name, std::vector<int64_t> shape) {
  checkpoint.by_name[name] = checkpoint.tensors.size();
  TensorEntry& entry = checkpoint.tensors.emplace_back();
  entry.name = std::move(name);
  entry.type = BlockType::kF32;
  entry.shape = std::move(shape);
}

// The tensor table of the model that such a checkpoint would hold. What the configuration looks for is there; the rest
// is what the model then says it wants.
Result<std::vector<TensorSpec>> tensors_of(const SynthShape& shape) {
  Checkpoint checkpoint;
  checkpoint.kind = ContainerKind::kGguf;
  checkpoint.metadata = metadata_of(shape);
  add_tensor(checkpoint, "token_embd.weight", {shape.vocabulary, shape.width});
  if (shape.tied == 0) add_tensor(checkpoint, "output.weight", {shape.vocabulary, shape.width});
  for (int64_t i = 0; i < shape.layers; ++i)
    add_tensor(checkpoint, fmt::format("blk.{}.attn_norm.weight", i), {shape.width});
  Warnings warnings;
  HR_TRY(const auto model, make_model(checkpoint, {}, warnings));
  return model->tensors();
}

Status check(const SynthOptions& options) {
  const auto types = synth_types();
  if (std::ranges::find(types, options.types) == types.end())
    return fail(ErrorCode::kOptions, "there are no types '{}', expected one of {}", options.types,
                fmt::join(types, ", "));
  for (const SynthField& field : kFields)
    if (options.shape.*field.field < 0 || options.shape.*field.field > int64_t{1} << 28)
      return fail(ErrorCode::kOptions, "{} is {}, expected 0 to {}", field.name, options.shape.*field.field,
                  int64_t{1} << 28);
  return {};
}

// Tensors of each file, so many that none holds more data than allowed.
Result<std::vector<std::vector<OutGgufTensor>>> parts_of(std::vector<OutGgufTensor> tensors, uint64_t split_bytes) {
  std::vector<std::vector<OutGgufTensor>> parts(1);
  uint64_t held = 0;
  for (OutGgufTensor& t : tensors) {
    HR_TRY(const GgufLayout alone, layout_gguf({}, std::span(&t, 1)));
    const uint64_t bytes = alone.lengths_bytes[0];
    if (split_bytes != 0 && !parts.back().empty() && held + bytes > split_bytes) {
      parts.emplace_back();
      held = 0;
    }
    held += bytes;
    parts.back().push_back(std::move(t));
  }
  return parts;
}

}  // namespace

std::span<const SynthShape> synth_presets() { return kPresets; }
std::span<const SynthField> synth_fields() { return kFields; }

std::vector<std::string_view> synth_types() {
  std::vector<std::string_view> out{kMix};
  for (size_t i = 0; i < block_type_table().size(); ++i)
    if (const auto type = static_cast<BlockType>(i); can_fill(type)) out.push_back(name(type));
  return out;
}

Result<std::vector<SynthFile>> plan_synth(const SynthOptions& options) {
  HR_TRY_STATUS(check(options));
  HR_TRY(const auto specs, tensors_of(options.shape));
  std::vector<OutGgufTensor> tensors;
  tensors.reserve(specs.size());
  for (const TensorSpec& spec : specs)
    tensors.push_back({.name = spec.name, .type = type_of(spec, options), .shape = spec.shape});
  const auto total = static_cast<int64_t>(tensors.size());
  HR_TRY(auto parts, parts_of(std::move(tensors), options.split_bytes));
  std::vector<SynthFile> files;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::map<std::string, MetaValue, std::less<>> metadata;
    if (i == 0) metadata = metadata_of(options.shape);
    if (parts.size() > 1) {
      metadata["split.no"] = count(static_cast<int64_t>(i));
      metadata["split.count"] = count(static_cast<int64_t>(parts.size()));
      metadata["split.tensors.count"] = MetaValue{total};
    }
    HR_TRY(GgufLayout layout, layout_gguf(metadata, parts[i]));
    files.push_back({.suffix = parts.size() == 1 ? "" : fmt::format("-{:05}-of-{:05}", i + 1, parts.size()),
                     .layout = std::move(layout),
                     .tensors = std::move(parts[i])});
  }
  return files;
}

}  // namespace headrace
