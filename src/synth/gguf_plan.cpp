// A GGUF of a shape: llama.cpp's keys and mix of types.
#include <algorithm>
#include <cmath>
#include <optional>

#include "formats/gguf_writer.h"
#include "synth/plan.h"

namespace headrace::synth_detail {

namespace {

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
  if (s.attention_scalar != 0) out[a + "attention.scale"] = {1 / std::sqrt(static_cast<double>(s.attention_scalar))};
  if (s.linear_factor != 0) {
    out[a + "rope.scaling.type"] = {std::string("linear")};
    out[a + "rope.scaling.factor"] = {s.linear_factor};
  }
  return out;
}

std::vector<OutGgufTensor> out_tensors(const std::vector<SynthTensor>& tensors) {
  std::vector<OutGgufTensor> out;
  out.reserve(tensors.size());
  for (const SynthTensor& t : tensors) out.push_back({.name = t.name, .type = t.type, .shape = t.shape});
  return out;
}

}  // namespace

Result<std::unique_ptr<Model>> gguf_model(const SynthShape& shape) {
  Checkpoint checkpoint;
  checkpoint.kind = ContainerKind::kGguf;
  checkpoint.metadata = metadata_of(shape);
  add_first_tensors(checkpoint, TensorNames(), shape);
  Warnings warnings;
  return make_model(checkpoint, {}, warnings);
}

Result<std::vector<SynthFile>> plan_gguf(const SynthOptions& options) {
  HR_TRY(const auto model, gguf_model(options.shape));
  std::vector<SynthTensor> tensors;
  tensors.reserve(model->tensors().size());
  for (const TensorSpec& spec : model->tensors()) {
    const OutGgufTensor out{.name = spec.name, .type = type_of(spec, options), .shape = spec.shape};
    HR_TRY(const GgufLayout alone, layout_gguf({}, std::span(&out, 1)));
    tensors.push_back({.name = spec.name,
                       .source = spec.name,
                       .type = out.type,
                       .shape = spec.shape,
                       .is_norm = spec.role == Role::kNorm,
                       .length_bytes = alone.lengths_bytes[0]});
  }
  const size_t total = tensors.size();
  auto parts = parts_of(std::move(tensors), options.split_bytes);
  std::vector<SynthFile> files;
  for (size_t i = 0; i < parts.size(); ++i) {
    std::map<std::string, MetaValue, std::less<>> metadata;
    if (i == 0) metadata = metadata_of(options.shape);
    if (parts.size() > 1) {
      metadata["split.no"] = count(static_cast<int64_t>(i));
      metadata["split.count"] = count(static_cast<int64_t>(parts.size()));
      metadata["split.tensors.count"] = MetaValue{static_cast<int64_t>(total)};
    }
    HR_TRY(GgufLayout layout, layout_gguf(metadata, out_tensors(parts[i])));
    for (size_t t = 0; t < parts[i].size(); ++t) parts[i][t].offset_bytes = layout.offsets_bytes[t];
    files.push_back({.name = part_suffix(i, parts.size()) + ".gguf",
                     .head_bytes = std::move(layout.header_bytes),
                     .tensors = std::move(parts[i]),
                     .total_bytes = layout.total_bytes});
  }
  return files;
}

}  // namespace headrace::synth_detail
