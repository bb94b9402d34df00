#include "nn/kv_cache.h"

#include "ops/ops.h"

namespace headrace {

namespace {

Tensor attend_over(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& query_positions,
                   const Tensor& key_positions, const AttendOptions& options) {
  return q.tracer().add(ops::kAttend, {q, k, v, query_positions, key_positions},
                        {options.scale, options.softcap, options.window});
}

}  // namespace

Tensor KvCache::attend(int64_t layer, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& positions,
                       const AttendOptions& options) {
  const Keys keys = store(layer, k, v, positions, options);
  seen_.insert_or_assign(layer, keys);
  return attend_over(q, keys.k, keys.v, positions, keys.positions, options);
}

Tensor KvCache::attend_shared(int64_t owner, const Tensor& q, const Tensor& positions, const AttendOptions& options) {
  const auto keys = seen_.find(owner);
  if (keys == seen_.end()) q.tracer().refuse(fmt::format("layer {} has no keys to share", owner));
  return attend_over(q, keys->second.k, keys->second.v, positions, keys->second.positions, options);
}

KvCache::Keys NoCache::store(int64_t, const Tensor& k, const Tensor& v, const Tensor& positions, const AttendOptions&) {
  return {.k = k, .v = v, .positions = positions};
}

}  // namespace headrace
