// Runs model code once and returns what it recorded.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "nn/tensor.h"

namespace headrace {

struct NamedType {
  std::string name;
  Type type;
};

struct FunctionSpec {
  std::string name;
  std::vector<NamedType> arguments;
  std::vector<StatePair> state = {};
  // The model code: arguments in, named results out.
  std::function<std::vector<std::pair<std::string, Tensor>>(Tracer&, std::span<const Tensor>)> body;
};

// Errors: kTrace / kInfer / kVerify from the model code, prefixed with the function's name.
[[nodiscard]] Result<Function> trace(const FunctionSpec& spec, const std::vector<Parameter>& parameters);

}  // namespace headrace
