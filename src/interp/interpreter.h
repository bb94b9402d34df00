// Runs a function of a module on host tensors: a loop over the nodes that calls each op's evaluation. It knows no op by
// name; what an op computes is in src/ops, and the speed of contractions in gemm.h.
//
//   - symbols (`seq`) are solved from the sizes of the inputs and checked against their bounds
//   - nodes run in order; those without operands (parameters, constants) when they are first needed
//   - a value is dropped after its last use, so that memory holds what is alive and no more
//   - the module should have passed verify(); what verify cannot know (sizes of this run) is checked here
#pragma once

#include <cstdint>
#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "ops/eval.h"

namespace headrace {

// Where a module's parameters come from. Must be safe to call from several threads at once.
template <class F>
class ParameterSource {
 public:
  virtual ~ParameterSource() = default;
  // The value, of exactly the dtype and sizes of `parameter.type` (checked by the interpreter). Called once for each
  // run of the node, so a source that converts does so anew each time.
  [[nodiscard]] virtual Result<HostTensor<F>> load(const Parameter& parameter) const = 0;

 protected:
  ParameterSource() = default;
  ParameterSource(const ParameterSource&) = default;
  ParameterSource(ParameterSource&&) noexcept = default;
  ParameterSource& operator=(const ParameterSource&) = default;
  ParameterSource& operator=(ParameterSource&&) noexcept = default;
};

// One value, as it is computed. The references last for the call only; the tensor may be kept (it shares storage).
template <class F>
struct Observation {
  std::string_view function;  // the innermost function that is running
  int depth{};                // 0 for its own nodes, +1 for each region around the node
  const Graph& graph;
  uint32_t node{};
  uint32_t result{};
  std::string_view place;  // the module path of the node: "blk.3.attn.q", or ""
  const HostTensor<F>& value;
};

template <class F>
struct InterpreterOptions {
  int threads{0};               // for contractions; 0: one for each hardware thread
  uint64_t max_region_runs{0};  // bodies of while, if and reduce, and calls, run at most this often; 0: no limit.
                                // The only guard against a loop that does not end
  std::stop_token stop = {};    // asked before each node: kInterrupted
  std::function<void(const Observation<F>&)> observe = {};
};

// Errors: kInput (no such function; number, dtype, rank or sizes of inputs, each with the argument's name, what was
// seen and what was expected, all reported together), kEvaluate (an op's own, prefixed with place and op; nesting over
// 64; max_region_runs), kMemoryLimit (a value too large to allocate), kInterrupted, and those of `parameters`. F is
// float or double.
template <class F>
[[nodiscard]] Result<std::vector<HostTensor<F>>> interpret(const Module& module, std::string_view function,
                                                           std::vector<HostTensor<F>> inputs,
                                                           const ParameterSource<F>& parameters,
                                                           const InterpreterOptions<F>& options = {});

}  // namespace headrace
