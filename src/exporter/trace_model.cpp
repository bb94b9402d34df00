#include "exporter/export.h"
#include "exporter/functions.h"

namespace headrace {

Result<Module> trace_model(const Model& model, const Checkpoint& checkpoint, int64_t seq_bound, Warnings& warnings) {
  HR_TRY(TracedModel traced, trace_functions(model, checkpoint, {.max_seq = seq_bound}, warnings));
  return std::move(traced.module);
}

}  // namespace headrace
