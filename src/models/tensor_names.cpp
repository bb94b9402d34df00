#include "models/tensor_names.h"

#include <algorithm>
#include <vector>

namespace headrace {

namespace {

// Where transformers' classes put a text model: alone, inside a wrapper (old and new layout), saved without its head's
// class. The head of each.
struct Place {
  std::string_view prefix;
  std::string_view head;
};
constexpr Place kPlaces[] = {
    {"model.", "lm_head"},
    {"language_model.model.", "language_model.lm_head"},
    {"model.language_model.", "lm_head"},
    {"", "lm_head"},
};
constexpr std::string_view kEmbedding = "embed_tokens.weight";

constexpr HfName kSharedNames[] = {
    {"attn_norm", "input_layernorm"},    {"attn_q", "self_attn.q_proj"},
    {"attn_k", "self_attn.k_proj"},      {"attn_v", "self_attn.v_proj"},
    {"attn_output", "self_attn.o_proj"}, {"attn_q_norm", "self_attn.q_norm"},
    {"attn_k_norm", "self_attn.k_norm"}, {"ffn_norm", "post_attention_layernorm"},
    {"ffn_gate", "mlp.gate_proj"},       {"ffn_up", "mlp.up_proj"},
    {"ffn_down", "mlp.down_proj"},
};

// Tensors of a GGUF's text model that live outside blk.*.
constexpr std::string_view kGgufOutsideBlocks[] = {"output.", "output_norm", "token_embd", "rope_freqs",
                                                   "rope_factors"};
// Those of a Hugging Face text model, after its prefix.
constexpr std::string_view kHfParts[] = {"layers.", "embed_tokens.", "norm."};

bool starts_with_any(std::string_view name, std::span<const std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](std::string_view p) { return name.starts_with(p); });
}

const HfName* find_name(std::span<const HfName> names, std::string_view ours) {
  const auto it = std::find_if(names.begin(), names.end(), [&](const HfName& n) { return n.ours == ours; });
  return it == names.end() ? nullptr : &*it;
}

}  // namespace

std::string TensorNames::operator()(std::string_view ours) const {
  if (!hf_) return std::string(ours);
  if (ours == "token_embd.weight") return prefix_ + std::string(kEmbedding);
  if (ours == "output_norm.weight") return prefix_ + "norm.weight";
  if (ours == "output.weight") return head_ + ".weight";
  // blk.<layer>.<stem>.<kind>
  constexpr std::string_view kBlock = "blk.";
  const size_t layer_end = ours.find('.', kBlock.size());
  const size_t kind = ours.rfind('.');
  if (!ours.starts_with(kBlock) || layer_end == std::string_view::npos || kind <= layer_end) return {};
  const std::string_view layer = ours.substr(kBlock.size(), layer_end - kBlock.size());
  const std::string_view stem = ours.substr(layer_end + 1, kind - layer_end - 1);
  const HfName* name = find_name(own_, stem);
  if (name == nullptr) name = find_name(kSharedNames, stem);
  if (name == nullptr) return {};
  return fmt::format("{}layers.{}.{}{}", prefix_, layer, name->hf, ours.substr(kind));
}

bool TensorNames::in_text_model(std::string_view name) const {
  if (!hf_) return name.starts_with("blk.") || starts_with_any(name, kGgufOutsideBlocks);
  // Old files keep the RoPE frequencies, which follow from the configuration.
  if (name.ends_with(".rotary_emb.inv_freq")) return false;
  if (name.starts_with(head_ + ".")) return true;
  if (!name.starts_with(prefix_)) return false;
  return !prefix_.empty() || starts_with_any(name, kHfParts);
}

Result<TensorNames> hf_tensor_names(const Checkpoint& checkpoint, std::span<const HfName> own) {
  std::vector<const Place*> found;
  for (const Place& place : kPlaces)
    if (checkpoint.find(std::string(place.prefix) + std::string(kEmbedding)) != nullptr) found.push_back(&place);
  if (found.size() == 1) return TensorNames(std::string(found[0]->prefix), std::string(found[0]->head), own);
  std::vector<std::string> names;
  for (const Place& place : kPlaces) names.push_back(fmt::format("'{}{}'", place.prefix, kEmbedding));
  if (found.empty())
    return fail(ErrorCode::kTensorLink, "no embedding: none of the tensors {} is there", fmt::join(names, ", "));
  return fail(ErrorCode::kTensorLink, "two text models: tensors '{0}{2}' and '{1}{2}' are both there", found[0]->prefix,
              found[1]->prefix, kEmbedding);
}

}  // namespace headrace
