// Keys and values that outlive a call. One class for all policies: what differs is which slot a token goes to, and how
// the slots' positions are told; both follow from KvLayout and from the call.
//
//   slots (static extent, rings)  a token at position p lies in slot p mod slots; where the text is never longer than
//   the
//                                 slots, that is p itself. A slot's position follows from the last one written.
//   growth (concat)               a token lies where its call put it; `cache.positions` says which position that is.
#pragma once

#include <optional>
#include <vector>

#include "nn/kv_layout.h"

namespace headrace {

// What a call knows about its tokens. All i32.
struct CacheCall {
  Tensor positions;              // [B, S]
  std::optional<Tensor> length;  // [B]: tokens of each row, the rest is padding; absent: one token a row, S = 1
  std::optional<Tensor> past;    // [B]: tokens that each row has in the cache; absent: none, and no caches
  std::vector<Tensor> caches{};  // as KvLayout::caches()
};

class CachedKv final : public KvCache {
 public:
  // Positions plus tokens of a row must not exceed the policy's capacity: the host checks it, the graph does not.
  CachedKv(const KvLayout& layout, CacheCall call);

  // The caches after the call, in the layout's order. Throws UserError when a layer has not attended.
  [[nodiscard]] std::vector<Tensor> results();

 protected:
  [[nodiscard]] Keys store(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& positions,
                           const AttendOptions& options) override;

 private:
  struct Kept {
    Tensor k, v;
  };
  [[nodiscard]] bool is_decode() const { return !call_.length; }
  [[nodiscard]] bool is_prefill() const { return !call_.past; }
  [[nodiscard]] Kept old(size_t layer) const;
  [[nodiscard]] Keys grow(size_t layer, const Kept& fresh);
  [[nodiscard]] Keys fill(size_t i, const Kept& fresh);
  [[nodiscard]] Tensor written(const Tensor& cache, const Tensor& token, int64_t slots) const;
  [[nodiscard]] Tensor call_positions() const;
  [[nodiscard]] Tensor last() const;
  [[nodiscard]] Tensor held(const Tensor& last, int64_t slots) const;
  [[nodiscard]] Tensor slot_positions(const CacheLayer& layer, const Tensor& last) const;
  [[nodiscard]] Tensor source_rows(int64_t slots);

  const KvLayout& layout_;
  CacheCall call_;
  std::vector<std::optional<Kept>> kept_;
};

}  // namespace headrace
