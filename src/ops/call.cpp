#include "ops/def.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"callee", AttrKind::kString}, {"results", AttrKind::kTypes}};

// That the callee exists and has this signature is for ir/verify.h: an op does not see its module.
Result<Types> infer(const InferArgs& args) {
  if (attr<std::string>(args.attrs, 0).empty()) return fail(ErrorCode::kInfer, "a call without a callee (call_c1)");
  const auto& results = attr<Types>(args.attrs, 1);
  if (results.empty())
    return fail(ErrorCode::kInfer, "call of '{}' without results (call_c2)", attr<std::string>(args.attrs, 0));
  for (const Type& type : results) HR_TRY_STATUS(check_shape(type.shape, "call_c3"));
  return results;
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  return ctx.call(attr<std::string>(ctx.node.attrs, 0), Tensors<F>(ctx.operands.begin(), ctx.operands.end()));
}

void write(HloWriter& w) {
  w.result(fmt::format("func.call {}({}) : {}", w.callee(attr<std::string>(w.node().attrs, 0)), operand_list(w),
                       function_type(w)));
}

}  // namespace

constinit const OpDef kCall = checked({.name = "call",
                                       .level = OpLevel::kCore,
                                       .summary = "the results of another function of the module",
                                       .spec = "docs/ops.md#call",
                                       .operands = -1,
                                       .attrs = kAttrs,
                                       .infer = infer,
                                       .eval_f32 = eval<float>,
                                       .eval_f64 = eval<double>,
                                       .hlo = write});

}  // namespace headrace::ops
