#include "ops/def.h"

namespace headrace::ops {

namespace {

Result<Types> infer(const InferArgs& args) {
  if (args.operands.empty()) return fail(ErrorCode::kInfer, "no operands (optimization_barrier_c1)");
  return Types(args.operands.begin(), args.operands.end());
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  return Tensors<F>(ctx.operands.begin(), ctx.operands.end());
}

void write(HloWriter& w) {
  std::string types;
  for (size_t i = 0; i < w.node().operands.size(); ++i) types += (i == 0 ? "" : ", ") + w.operand_type(i);
  w.result(fmt::format("stablehlo.optimization_barrier {} : {}", operand_list(w), types));
}

}  // namespace

constinit const OpDef kOptimizationBarrier = checked({.name = "optimization_barrier",
                                                      .level = OpLevel::kCore,
                                                      .summary = "its operands; compilers move nothing across",
                                                      .spec = "stablehlo spec.md#optimization_barrier",
                                                      .operands = -1,
                                                      .infer = infer,
                                                      .eval_f32 = eval<float>,
                                                      .eval_f64 = eval<double>,
                                                      .hlo = write});

}  // namespace headrace::ops
