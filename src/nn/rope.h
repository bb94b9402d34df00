// Rotary position embedding (Su et al. 2021, arXiv:2104.09864), with its tables computed in the graph.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "nn/tensor.h"

namespace headrace {

// Which elements of a head form a pair (x, y) that is rotated together. A property of the container's row order, hence
// Config: GGUF files of architecture `llama` hold q and k rows permuted for interleaved pairs; HF files hold halves.
enum class RopePairing : uint8_t {
  kInterleaved,  // (0, 1), (2, 3), ...
  kHalf,         // (0, n/2), (1, n/2 + 1), ...
};

struct RopeConfig {
  int64_t rotated{};        // leading elements of a head that rotate; even
  double base{};            // theta
  double linear_factor{1};  // positions are divided by it
  RopePairing pairing{};
  // A parameter [rotated / 2] of divisors of the frequencies (Llama 3's `rope_freqs.weight`).
  std::optional<std::string> factors{};
  // The same where they follow from the configuration: empty, or rotated / 2 numbers.
  std::vector<float> divisors{};
};

// cos and sin of position * base^(-2i / rotated), f32 [B, S, rotated / 2] each. The angle is the f32 product
// position * frequency, as llama.cpp and Hugging Face compute it; it is then reduced to [-pi, pi] by Cody-Waite's
// method in three parts, because IREE's sin and cos lose 1e-3 at large angles.
struct RopeTables {
  Tensor cosine;
  Tensor sine;
};
[[nodiscard]] RopeTables rope_tables(const Tensor& positions, const RopeConfig& config);

// x [B, heads.., S, D] rotated: the first elements of all pairs, then the second ones, then the elements from
// config.rotated on unchanged. For interleaved pairs that is a fixed permutation of the head, left in place because q
// and k are permuted alike and q.k does not see it: so no pass over the head interleaves it again, and caches may hold
// k in this order.
[[nodiscard]] Tensor rope(const Tensor& x, const RopeTables& tables, const RopeConfig& config);

}  // namespace headrace
