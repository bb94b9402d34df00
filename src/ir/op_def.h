// The definition of an op: everything Headrace knows about it, in one constant. The graph stores a pointer to it;
// builder, printer, parser, verifier, interpreter and emitter are loops over these fields, with no switch on the op.
// The rows are in src/ops (ops.def lists them); docs/adding-an-op.md is the recipe.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/attr.h"
#include "ir/type.h"

namespace headrace {

class Graph;
class HloWriter;  // ops/hlo_writer.h
template <class F>
class EvalContext;  // ops/eval.h
template <class F>
class HostTensor;  // ops/eval.h

// Core ops are StableHLO's. Structured ops stand for what engines want spelt differently; expansions
// (passes/expansions.def) turn them into core ops late.
enum class OpLevel : uint8_t { kCore, kStructured };

struct InferArgs {
  std::span<const Type> operands;
  std::span<const Attr> attrs;
  std::span<const std::shared_ptr<const Graph>> regions;
};

using Infer = Result<std::vector<Type>> (*)(const InferArgs&);

template <class F>
using Eval = Result<std::vector<HostTensor<F>>> (*)(EvalContext<F>&);

// Writes the op's StableHLO through the writer (which knows names and types); null for structured ops.
using WriteHlo = void (*)(HloWriter&);

struct OpDef {
  std::string_view name;  // HIR name; for core ops StableHLO's mnemonic
  OpLevel level{};
  std::string_view summary;  // one line for docs: what it computes
  std::string_view spec;     // where it is defined: "stablehlo spec.md#clamp", "docs/structured-ops.md#linear"
  int operands{};            // count, or -1: any number
  std::span<const AttrSpec> attrs;
  int regions{};
  Infer infer{};           // result types from operands, attributes and regions; errors: kInfer
  Eval<float> eval_f32{};  // reference evaluation: the obvious loop
  Eval<double> eval_f64{};
  WriteHlo hlo{};
};

// Looks ops up by name, for the parser. Null when unknown.
using OpLookup = const OpDef* (*)(std::string_view name);

}  // namespace headrace
