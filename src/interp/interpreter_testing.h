// What tests of the interpreter share: modules from HIR text, tensors from lists, parameters from a map. Include from
// *_test.cpp only.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/testing.h"
#include "interp/interpreter.h"
#include "ir/parse.h"
#include "ir/verify.h"
#include "ops/ops.h"

namespace headrace::testing {

// A verified module. `body` follows the header line.
inline Module module_of(const std::string& body) {
  auto module = parse_module("headrace.module 1 \"test\"\n" + body, ops::lookup);
  if (!module) throw InternalError(module.error().text());
  if (const auto status = verify(*module); !status) throw InternalError(status.error().text());
  return *std::move(module);
}

template <class F>
HostTensor<F> floats(std::vector<int64_t> sizes, const std::vector<F>& values, DType dtype = DType::kF32) {
  HostTensor<F> out(dtype, std::move(sizes));
  HR_CHECK(out.mutable_floats().size() == values.size());
  std::copy(values.begin(), values.end(), out.mutable_floats().begin());
  return out;
}

template <class F>
HostTensor<F> ints(std::vector<int64_t> sizes, const std::vector<int64_t>& values, DType dtype = DType::kI32) {
  HostTensor<F> out(dtype, std::move(sizes));
  HR_CHECK(out.mutable_ints().size() == values.size());
  std::copy(values.begin(), values.end(), out.mutable_ints().begin());
  return out;
}

// Parameters from a map; anything else is refused. Counts how often each is loaded.
template <class F>
class MapParameters final : public ParameterSource<F> {
 public:
  std::map<std::string, HostTensor<F>> tensors = {};
  mutable std::map<std::string, int> loads = {};

  Result<HostTensor<F>> load(const Parameter& parameter) const override {
    ++loads[parameter.name];
    const auto found = tensors.find(parameter.name);
    if (found == tensors.end()) return fail(ErrorCode::kArchive, "parameter '{}' is not there", parameter.name);
    return found->second;
  }
};

template <class F>
Result<std::vector<HostTensor<F>>> run(const Module& module, std::vector<HostTensor<F>> inputs,
                                       const InterpreterOptions<F>& options = {}) {
  return interpret<F>(module, "f", std::move(inputs), MapParameters<F>{}, options);
}

}  // namespace headrace::testing
