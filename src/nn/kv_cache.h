// Caching is a policy, not another model: forward() calls attend() once per layer and never learns how keys and values
// are stored, extended, masked or read. A policy is a class derived from KvCache; layers that share another layer's
// keys name their owner, and only owners have storage.
#pragma once

#include <cstdint>

#include "nn/tensor.h"

namespace headrace {

struct AttendOptions {
  double scale{};     // multiplies q.k
  double softcap{0};  // c * tanh(score / c); 0: none
  int64_t window{0};  // a query sees this many keys, its own included; 0: all
};

class KvCache {
 public:
  virtual ~KvCache() = default;
  // q [B, Hkv, G, S, D], k [B, Hkv, S, D], v [B, Hkv, S, Dv] of this call's tokens at `positions` i32 [B, S]; G queries
  // share a key head. Returns [B, Hkv, G, S, Dv].
  [[nodiscard]] virtual Tensor attend(int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v,
                                      const Tensor& positions, const AttendOptions& options) = 0;
};

// Extent `none`: keys are this call's own tokens.
class NoCache final : public KvCache {
 public:
  [[nodiscard]] Tensor attend(int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& positions,
                              const AttendOptions& options) override;
};

}  // namespace headrace
