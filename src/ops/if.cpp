#include "ops/def.h"

namespace headrace::ops {

namespace {

// The specification's branches take no inputs and capture implicitly; ours take their captures as inputs.
Result<Types> infer(const InferArgs& args) {
  if (args.operands.empty()) return fail(ErrorCode::kInfer, "no operands (if_i1)");
  if (!(args.operands[0] == Type{DType::kI1, {}}))
    return fail(ErrorCode::kInfer, "pred is {}, wanted i1[] (if_i1)", to_string(args.operands[0]));
  const Types captures(args.operands.begin() + 1, args.operands.end());
  for (const auto& branch : args.regions)
    if (branch->input_types() != captures)
      return fail(ErrorCode::kInfer, "branch takes {}, captures are {} (if_c1)", to_string(branch->input_types()),
                  to_string(captures));
  const Types on_true = args.regions[0]->result_types();
  const Types on_false = args.regions[1]->result_types();
  if (on_true != on_false)
    return fail(ErrorCode::kInfer, "branches give {} and {} (if_c2)", to_string(on_true), to_string(on_false));
  return on_true;
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const bool pred = ctx.operands[0].ints()[0] != 0;
  return ctx.run(*ctx.node.regions[pred ? 0 : 1], Tensors<F>(ctx.operands.begin() + 1, ctx.operands.end()));
}

void write(HloWriter& w) {
  const std::string on_true = w.region(0, 0, 1);
  const std::string on_false = w.region(1, 0, 1);
  w.result(fmt::format("\"stablehlo.if\"({}) ({}, {}) : {}", w.operand(0), on_true, on_false, function_type(w, 1)));
}

}  // namespace

constinit const OpDef kIf = checked({.name = "if",
                                     .level = OpLevel::kCore,
                                     .summary = "one of two bodies, chosen by an i1 scalar",
                                     .spec = "stablehlo spec.md#if",
                                     .operands = -1,
                                     .regions = 2,
                                     .infer = infer,
                                     .eval_f32 = eval<float>,
                                     .eval_f64 = eval<double>,
                                     .hlo = write});

}  // namespace headrace::ops
