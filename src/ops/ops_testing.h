// Runs one op on host tensors, regions included, without a module: what the tests of src/ops share. Include from
// *_test.cpp only.
#pragma once

#include <utility>
#include <vector>

#include "base/testing.h"
#include "ops/def.h"

namespace headrace::testing {

using ops::Ints;
using ops::Tensors;

// A tensor of the values, settled to its type.
template <class F>
HostTensor<F> tensor(DType dtype, Ints sizes, const std::vector<double>& values) {
  HostTensor<F> out(dtype, std::move(sizes));
  EXPECT_EQ(static_cast<size_t>(out.elements()), values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    if (is_float(dtype)) out.mutable_floats()[i] = static_cast<F>(values[i]);
    if (!is_float(dtype)) out.mutable_ints()[i] = static_cast<int64_t>(values[i]);
  }
  out.settle();
  return out;
}

template <class F>
std::vector<double> values_of(const HostTensor<F>& x) {
  if (is_float(x.dtype())) return {x.floats().begin(), x.floats().end()};
  std::vector<double> out;
  for (const int64_t v : x.ints()) out.push_back(static_cast<double>(v));
  return out;
}

template <class F>
Type type_of(const HostTensor<F>& x) {
  return {x.dtype(), Shape(x.sizes().begin(), x.sizes().end())};
}

inline Result<std::vector<Type>> infer(const OpDef& op, const std::vector<Type>& operands,
                                       const std::vector<Attr>& attrs = {}, const std::vector<GraphPtr>& regions = {}) {
  return op.infer({.operands = operands, .attrs = attrs, .regions = regions});
}

template <class F>
struct Evaluation {
  ContractFn<F> contract{};
  SymbolValues symbols{};

  Result<Tensors<F>> node(const Node& node, std::vector<HostTensor<F>> operands) {
    std::vector<Type> types = node.results;
    for (Type& type : types) type.shape = substitute(type.shape, symbols);
    EvalContext<F> context{
        .node = node,
        .operands = operands,
        .result_types = types,
        .symbols = symbols,
        .contract = contract,
        .run = [&](const Graph& graph, Tensors<F> inputs) { return this->graph(graph, std::move(inputs)); }};
    if constexpr (sizeof(F) == sizeof(float)) return node.op->eval_f32(context);
    if constexpr (sizeof(F) == sizeof(double)) return node.op->eval_f64(context);
  }

  Result<Tensors<F>> graph(const Graph& graph, Tensors<F> inputs) {
    std::vector<Tensors<F>> values;
    for (auto& input : inputs) values.push_back({std::move(input)});
    for (size_t i = graph.inputs(); i < graph.nodes().size(); ++i) {
      Tensors<F> operands;
      for (const ValueId& id : graph.nodes()[i].operands) operands.push_back(values[id.node][id.result]);
      HR_TRY(Tensors<F> results, node(graph.nodes()[i], std::move(operands)));
      values.push_back(std::move(results));
    }
    Tensors<F> results;
    for (const ValueId& id : graph.results()) results.push_back(values[id.node][id.result]);
    return results;
  }
};

// Infers, then evaluates.
template <class F>
Result<Tensors<F>> evaluate(const OpDef& op, Tensors<F> operands, std::vector<Attr> attrs = {},
                            std::vector<GraphPtr> regions = {}, ContractFn<F> contract = nullptr) {
  std::vector<Type> types;
  for (const auto& operand : operands) types.push_back(type_of(operand));
  HR_TRY(auto results, infer(op, types, attrs, regions));
  const Node node{.op = &op,
                  .operands = {},
                  .attrs = std::move(attrs),
                  .regions = std::move(regions),
                  .results = std::move(results)};
  return Evaluation<F>{.contract = contract}.node(node, std::move(operands));
}

// A body of one op on its first two inputs, all of type `type`, with further inputs `captures`.
inline GraphPtr body_of(const OpDef& op, const Type& type, const std::vector<Type>& captures = {}) {
  GraphBuilder builder;
  const ValueId a = builder.input(type);
  const ValueId b = builder.input(type);
  for (const Type& capture : captures) builder.input(capture);
  auto value = builder.add(op, {a, b});
  EXPECT_OK(value);
  auto graph = std::move(builder).finish({*value});
  EXPECT_OK(graph);
  return *graph;
}

}  // namespace headrace::testing
