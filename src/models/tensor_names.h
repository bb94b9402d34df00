// Headrace's names for a decoder's tensors are llama.cpp's (`blk.3.attn_q.weight`). A GGUF has them as they are; a
// Hugging Face checkpoint spells them otherwise and may hold its text model under a prefix. Parameters keep the
// container's names.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "formats/checkpoint.h"

namespace headrace {

// A stem of a block's tensor, without layer and kind: "attn_q" is "self_attn.q_proj".
struct HfName {
  std::string_view ours;
  std::string_view hf;
};

class TensorNames {
 public:
  // Those of a GGUF.
  TensorNames() = default;
  // Those of a Hugging Face checkpoint whose text model starts with `prefix` ("model.", "language_model.model.") and
  // whose untied head is `head`. Block names are looked up in `own`, then among those most architectures share.
  TensorNames(std::string prefix, std::string head, std::span<const HfName> own)
      : hf_(true), prefix_(std::move(prefix)), head_(std::move(head)), own_(own) {}

  // The container's name of a tensor of ours; empty for one that it has no name for.
  [[nodiscard]] std::string operator()(std::string_view ours) const;
  // Whether a tensor of the container belongs to the text model: to meet one there without using it changes the result.
  [[nodiscard]] bool in_text_model(std::string_view name) const;
  [[nodiscard]] bool is_hf() const { return hf_; }

 private:
  bool hf_ = false;
  std::string prefix_;
  std::string head_;
  std::span<const HfName> own_;
};

// Finds where the text model lies. Errors: kTensorLink when there is no embedding or more than one.
[[nodiscard]] Result<TensorNames> hf_tensor_names(const Checkpoint& checkpoint, std::span<const HfName> own);

}  // namespace headrace
