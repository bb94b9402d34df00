#include "nn/control.h"

#include "ops/ops.h"

namespace headrace {

namespace {

GraphPtr region(const Tensors& carried, const std::function<Tensors(std::span<const Tensor>)>& code) {
  Tracer tracer(carried.front().tracer().parameters());
  Tensors inputs;
  for (const Tensor& value : carried) inputs.push_back(tracer.input(value.type()));
  std::vector<ValueId> results;
  for (const Tensor& value : code(inputs)) {
    // Regions are closed: what comes from outside must be carried.
    if (&value.tracer() != &tracer) tracer.refuse("a loop's result is not a value of its region");
    results.push_back(value.id());
  }
  auto graph = std::move(tracer.builder()).finish(std::move(results));
  if (!graph) throw UserError(std::move(graph).error());
  return *std::move(graph);
}

}  // namespace

Tensors while_loop(const Tensors& carried, const std::function<Tensor(std::span<const Tensor>)>& condition,
                   const std::function<Tensors(std::span<const Tensor>)>& body) {
  HR_CHECK(!carried.empty());
  Tracer& t = carried.front().tracer();
  const GraphPtr test = region(carried, [&](std::span<const Tensor> values) { return Tensors{condition(values)}; });
  const Tensor first =
      t.add(ops::kWhile, carried, {static_cast<int64_t>(carried.size())}, {test, region(carried, body)});
  Tensors out;
  for (uint32_t i = 0; i < carried.size(); ++i) out.emplace_back(t, ValueId{.node = first.id().node, .result = i});
  return out;
}

}  // namespace headrace
