// How the keys and values of a model are kept between calls: the policy that a user chooses, and the tensors it comes
// to for the layers of a model. Layers are found by running the model once (LayerRecorder), so that no model file knows
// of policies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "nn/kv_cache.h"
#include "nn/trace.h"

namespace headrace {

enum class KvExtent : uint8_t {
  kNone,    // nothing is kept: only whole texts can be scored
  kConcat,  // a cache is as long as the text so far (symbol `past`), and grows with each call
  kStatic,  // a cache has `capacity` slots, and calls fill them in place
};

struct KvPolicy {
  KvExtent extent{KvExtent::kNone};
  int64_t capacity{};        // positions that a text can have
  bool ring{};               // layers with a window keep that many slots and reuse the oldest, whatever the extent
  DType dtype{DType::kF32};  // keys and values are rounded to it, and attended to as they are kept
};

// The keys and values of one layer that owns some.
struct CacheLayer {
  int64_t layer{};
  int64_t heads{}, key_width{}, value_width{};
  int64_t window{};  // keys a query sees, its own included; 0: all
  friend bool operator==(const CacheLayer&, const CacheLayer&) = default;
};

inline constexpr std::string_view kCachePositions = "cache.positions";

struct KvLayout {
  KvPolicy policy;
  int64_t batch{1};
  std::vector<CacheLayer> layers;  // ascending

  // Whether the layer's slots are reused: a ring shorter than the text can be.
  [[nodiscard]] bool wraps(const CacheLayer& layer) const;
  // Whether the layer's cache grows with each call.
  [[nodiscard]] bool grows(const CacheLayer& layer) const;
  [[nodiscard]] bool any_grows() const;
  // Slots of a layer that does not grow.
  [[nodiscard]] int64_t slots(const CacheLayer& layer) const;

  // The caches in the order of arguments and results, where those that grow are `past` long: `cache.positions` i32
  // [B, past] if any grows (-1 where a slot holds padding), then of each layer `cache.<layer>.k` [B, heads, slots,
  // key_width] and `cache.<layer>.v`.
  [[nodiscard]] std::vector<NamedType> caches(const Dim& past) const;

  // What one more position of one text takes, and what a text takes whatever its length (rings; all of a static
  // extent's slots are counted by position).
  [[nodiscard]] int64_t bytes_per_token() const;
  [[nodiscard]] int64_t fixed_bytes() const;
};

// Attends without a cache and notes the layers that call it.
class LayerRecorder final : public NoCache {
 public:
  [[nodiscard]] const std::vector<CacheLayer>& layers() const { return layers_; }

 protected:
  [[nodiscard]] Keys store(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& positions,
                           const AttendOptions& options) override;

 private:
  std::vector<CacheLayer> layers_;  // ascending
};

}  // namespace headrace
