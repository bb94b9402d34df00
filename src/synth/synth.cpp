#include "synth/synth.h"

#include <algorithm>

#include "synth/plan.h"

namespace headrace {

namespace {

constexpr SynthShape kPresets[] = {
#define HR_PRESET(preset, architecture, model_type, layers, width, hidden, heads, kv_heads, head_width, vocabulary, \
                  context, tied, base, window, factor, eps, scalar)                                                 \
  {preset,     architecture, model_type, layers, width,  hidden, heads, kv_heads, head_width,                       \
   vocabulary, context,      tied,       base,   window, factor, eps,   scalar},
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

Status check(const SynthOptions& options) {
  const auto types = synth_types(options.format);
  if (std::ranges::find(types, options.types) == types.end())
    return fail(ErrorCode::kOptions, "there are no types '{}', expected one of {}", options.types,
                fmt::join(types, ", "));
  for (const SynthField& field : kFields)
    if (options.shape.*field.field < 0 || options.shape.*field.field > int64_t{1} << 28)
      return fail(ErrorCode::kOptions, "{} is {}, expected 0 to {}", field.name, options.shape.*field.field,
                  int64_t{1} << 28);
  return {};
}

}  // namespace

std::span<const SynthShape> synth_presets() { return kPresets; }
std::span<const SynthField> synth_fields() { return kFields; }

std::vector<std::string_view> synth_types(SynthFormat format) {
  if (format == SynthFormat::kSafetensors)
    return {name(BlockType::kBF16), name(BlockType::kF16), name(BlockType::kF32)};
  std::vector<std::string_view> out{kMix};
  for (size_t i = 0; i < block_type_table().size(); ++i)
    if (const auto type = static_cast<BlockType>(i); can_fill(type)) out.push_back(name(type));
  return out;
}

Result<std::vector<SynthFile>> plan_synth(const SynthOptions& options) {
  SynthOptions full = options;
  if (full.types.empty()) full.types = synth_types(full.format).front();
  HR_TRY_STATUS(check(full));
  switch (full.format) {
    case SynthFormat::kGguf:
      return synth_detail::plan_gguf(full);
    case SynthFormat::kSafetensors:
      return synth_detail::plan_hf(full);
  }
  throw InternalError("a format without a plan");
}

namespace synth_detail {

void add_first_tensors(Checkpoint& checkpoint, const TensorNames& names, const SynthShape& shape) {
  const auto add = [&](const std::string& ours, std::vector<int64_t> sizes) {
    TensorEntry entry{.name = names(ours), .type = BlockType::kF32, .shape = std::move(sizes)};
    checkpoint.by_name[entry.name] = checkpoint.tensors.size();
    checkpoint.tensors.push_back(std::move(entry));
  };
  add("token_embd.weight", {shape.vocabulary, shape.width});
  if (shape.tied == 0) add("output.weight", {shape.vocabulary, shape.width});
  for (int64_t i = 0; i < shape.layers; ++i) add(fmt::format("blk.{}.attn_norm.weight", i), {shape.width});
}

std::string_view config_value(const Model& model, std::string_view field) {
  const auto& entries = model.config();
  const auto it = std::ranges::find(entries, field, &ConfigEntry::name);
  return it == entries.end() ? std::string_view() : it->value;
}

std::vector<std::vector<SynthTensor>> parts_of(std::vector<SynthTensor> tensors, uint64_t split_bytes) {
  std::vector<std::vector<SynthTensor>> parts(1);
  uint64_t held = 0;
  for (SynthTensor& t : tensors) {
    if (split_bytes != 0 && !parts.back().empty() && held + t.length_bytes > split_bytes) {
      parts.emplace_back();
      held = 0;
    }
    held += t.length_bytes;
    parts.back().push_back(std::move(t));
  }
  return parts;
}

std::string part_suffix(size_t part, size_t parts) {
  return parts == 1 ? "" : fmt::format("-{:05}-of-{:05}", part + 1, parts);
}

}  // namespace synth_detail

}  // namespace headrace
