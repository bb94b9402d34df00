#include "nn/kv_cache.h"

#include "ops/ops.h"

namespace headrace {

Tensor NoCache::attend(int64_t, const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& positions,
                       const AttendOptions& options) {
  return q.tracer().add(ops::kAttend, {q, k, v, positions, positions},
                        {options.scale, options.softcap, options.window});
}

}  // namespace headrace
