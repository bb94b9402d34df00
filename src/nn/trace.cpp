#include "nn/trace.h"

namespace headrace {

namespace {

Result<Function> record(const FunctionSpec& spec, const std::vector<Parameter>& parameters) {
  Tracer tracer(parameters);
  Function function{.name = spec.name,
                    .visibility = Visibility::kPublic,
                    .arguments = {},
                    .results = {},
                    .state = spec.state,
                    .graph = nullptr};
  std::vector<Tensor> arguments;
  for (const NamedType& argument : spec.arguments) {
    function.arguments.push_back(argument.name);
    arguments.push_back(tracer.input(argument.type));
  }
  std::vector<ValueId> results;
  for (auto& [name, tensor] : spec.body(tracer, arguments)) {
    if (&tensor.tracer() != &tracer) tracer.refuse(fmt::format("result '{}' belongs to another graph", name));
    function.results.push_back(name);
    results.push_back(tensor.id());
  }
  if (results.empty()) return fail(ErrorCode::kTrace, "the function returns nothing");
  HR_TRY(function.graph, std::move(tracer.builder()).finish(std::move(results)));
  if (function.graph->nodes().size() == function.graph->inputs())
    return fail(ErrorCode::kTrace, "the function computes nothing");
  return function;
}

}  // namespace

Result<Function> trace(const FunctionSpec& spec, const std::vector<Parameter>& parameters) {
  try {
    auto function = record(spec, parameters);
    if (!function) return fail(std::move(function).error().in(spec.name));
    return function;
  } catch (const UserError& error) {
    Error copy = error.error;
    return fail(std::move(copy).in(spec.name));
  }
}

}  // namespace headrace
