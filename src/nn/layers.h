// Layers as functions and small structs over the op table: composites only, no op knowledge beyond ops/ops.h. A layer
// holds parameter names; its tensors come from the Tracer when it is called.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nn/tensor.h"

namespace headrace {

// y = x w^T (+ bias). weight [out, in], bias [out].
struct Linear {
  std::string weight;
  std::optional<std::string> bias = {};
  // x [B, S, in] -> [B, S, out].
  [[nodiscard]] Tensor operator()(const Tensor& x) const;
  // x [B, S, in] -> [B, heads.., S, out / product of heads]: {heads}, or {kv_heads, group} for queries that share keys.
  [[nodiscard]] Tensor split_heads(const Tensor& x, std::vector<int64_t> heads) const;
  // x [B, heads.., S, in / product of heads] -> [B, S, out].
  [[nodiscard]] Tensor merge_heads(const Tensor& x) const;
};

// x / sqrt(mean(x^2) + eps) * w over the last dim, in f32 (Zhang & Sennrich 2019, arXiv:1910.07467). w is the weight
// plus an offset: Gemma's norms are stored less 1 in Hugging Face's checkpoints, and whole in GGUF files.
struct RmsNorm {
  std::string weight;
  double eps{};
  double offset{};
  [[nodiscard]] Tensor operator()(const Tensor& x) const;
};

struct Embedding {
  std::string weight;  // [vocabulary, width]
  // ids i32 [B, S] -> [B, S, width]. Ids are checked by the host; the graph does not define the others.
  [[nodiscard]] Tensor operator()(const Tensor& ids) const;
  // x [B, S, width] -> logits [B, S, vocabulary]: the same matrix as a tied head.
  [[nodiscard]] Tensor head(const Tensor& x) const;
};

[[nodiscard]] Tensor sigmoid(const Tensor& x);
[[nodiscard]] Tensor silu(const Tensor& x);  // x * sigmoid(x)
// x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), Hendrycks & Gimpel 2016, arXiv:1606.08415.
[[nodiscard]] Tensor gelu_tanh(const Tensor& x);
// cap * tanh(x / cap).
[[nodiscard]] Tensor softcap(const Tensor& x, double cap);

}  // namespace headrace
