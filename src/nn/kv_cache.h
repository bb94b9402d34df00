// Caching is a policy, not another model: forward() calls attend() once per layer and never learns how keys and values
// are stored, extended, masked or read. A policy is a class derived from KvCache (nn/cached_kv.h has those with
// storage); layers that share another layer's keys name their owner, and only owners have storage.
#pragma once

#include <cstdint>
#include <map>

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
  [[nodiscard]] Tensor attend(int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& positions,
                              const AttendOptions& options);
  // The same for a layer without keys of its own: it sees those that `owner`, an earlier layer of this call, sees.
  // Throws UserError when there is no such layer.
  [[nodiscard]] Tensor attend_shared(int64_t owner, const Tensor& q, const Tensor& positions,
                                     const AttendOptions& options);

 protected:
  KvCache() = default;
  KvCache(const KvCache&) = default;
  KvCache& operator=(const KvCache&) = default;

  // What the queries of a layer look at.
  struct Keys {
    Tensor k, v;       // [B, Hkv, T, D], [B, Hkv, T, Dv]
    Tensor positions;  // i32 [B, T]; negative where there is no key
  };
  // Keeps the keys and values of this call's tokens, and tells which ones its queries look at.
  [[nodiscard]] virtual Keys store(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& positions,
                                   const AttendOptions& options) = 0;

 private:
  std::map<int64_t, Keys> seen_;
};

// Extent `none`: keys are this call's own tokens.
class NoCache : public KvCache {
 protected:
  [[nodiscard]] Keys store(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& positions,
                           const AttendOptions& options) override;
};

}  // namespace headrace
