// The functions of an export, each the same forward() under another cache. docs/functions.md describes arguments and
// results.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "models/model.h"
#include "nn/kv_layout.h"

namespace headrace {

// What prefill, chunk and decode return beside the caches.
enum class ResultKind : uint8_t {
  kLogits,      // f32 [B, S, vocabulary]
  kLastLogits,  // f32 [B, vocabulary], of each row's last token
  kToken,       // i32 [B]: the likeliest next token, the lowest id of equal ones; -1 when a logit is NaN
};

inline constexpr int64_t kMaxBatch = 1024;

struct FunctionOptions {
  std::vector<std::string> functions{"score"};  // names of function_table(), in any order
  int64_t max_seq{};                            // bound of the symbol `seq`
  int64_t batch{1};                             // texts in one call
  KvPolicy kv = {};
  ResultKind result{ResultKind::kLastLogits};
};

struct FunctionInfo {
  std::string_view name;
  bool cached{};
  std::string_view summary;
};
[[nodiscard]] std::span<const FunctionInfo> function_table();

struct TracedModel {
  Module module;
  KvLayout layout;  // no layers under the policy none
};

// The functions asked for, over one set of parameters, before any pass. Reads no weight bytes. Errors: kOptions
// (unknown function, none or one twice; a cached one without a policy; a length, batch or capacity outside its bounds;
// generate under a growing cache), those of link_weights and trace.
[[nodiscard]] Result<TracedModel> trace_functions(const Model& model, const Checkpoint& checkpoint,
                                                  const FunctionOptions& options, Warnings& warnings);

}  // namespace headrace
