#include "nn/kv_layout.h"

#include <algorithm>

namespace headrace {

bool KvLayout::wraps(const CacheLayer& layer) const {
  return policy.ring && layer.window > 0 && layer.window < policy.capacity;
}

bool KvLayout::grows(const CacheLayer& layer) const { return policy.extent == KvExtent::kConcat && !wraps(layer); }

bool KvLayout::any_grows() const {
  return std::any_of(layers.begin(), layers.end(), [&](const CacheLayer& layer) { return grows(layer); });
}

int64_t KvLayout::slots(const CacheLayer& layer) const { return wraps(layer) ? layer.window : policy.capacity; }

std::vector<NamedType> KvLayout::caches(const Dim& past) const {
  std::vector<NamedType> out;
  if (any_grows())
    out.push_back({.name = std::string(kCachePositions), .type = {.dtype = DType::kI32, .shape = {batch, past}}});
  for (const CacheLayer& layer : layers) {
    const Dim length = grows(layer) ? past : Dim(slots(layer));
    const auto add = [&](char what, int64_t width) {
      out.push_back({.name = fmt::format("cache.{}.{}", layer.layer, what),
                     .type = {.dtype = policy.dtype, .shape = {batch, layer.heads, length, width}}});
    };
    add('k', layer.key_width);
    add('v', layer.value_width);
  }
  return out;
}

namespace {

int64_t bytes_of_slot(const CacheLayer& layer, DType dtype) {
  return layer.heads * (layer.key_width + layer.value_width) * storage_bytes(dtype);
}

}  // namespace

int64_t KvLayout::bytes_per_token() const {
  int64_t out = any_grows() ? storage_bytes(DType::kI32) : 0;
  for (const CacheLayer& layer : layers)
    if (!wraps(layer)) out += bytes_of_slot(layer, policy.dtype);
  return out;
}

int64_t KvLayout::fixed_bytes() const {
  int64_t out = 0;
  for (const CacheLayer& layer : layers)
    if (wraps(layer)) out += slots(layer) * bytes_of_slot(layer, policy.dtype);
  return out;
}

KvCache::Keys LayerRecorder::store(int64_t layer, const Tensor& k, const Tensor& v, const Tensor& positions,
                                   const AttendOptions& options) {
  const auto at = std::lower_bound(layers_.begin(), layers_.end(), layer,
                                   [](const CacheLayer& a, int64_t wanted) { return a.layer < wanted; });
  if (at != layers_.end() && at->layer == layer) k.tracer().refuse(fmt::format("layer {} attends twice", layer));
  layers_.insert(at, {.layer = layer,
                      .heads = k.dim(1).value(),
                      .key_width = k.dim(3).value(),
                      .value_width = v.dim(3).value(),
                      .window = options.window});
  return NoCache::store(layer, k, v, positions, options);
}

}  // namespace headrace
