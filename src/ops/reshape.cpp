#include "ops/def.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"shape", AttrKind::kShape}};

Result<Types> infer(const InferArgs& args) {
  const Type& x = args.operands[0];
  const auto& shape = attr<Shape>(args.attrs, 0);
  HR_TRY_STATUS(check_shape(shape, "reshape_o1"));
  if (!same_elements(x.shape, shape))
    return fail(ErrorCode::kInfer, "{} and {} hold different numbers of elements (reshape_c2)", to_string(x),
                to_string(shape));
  return Types{{x.dtype, shape}};
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  return one(ctx.operands[0].reshaped(static_sizes(ctx.result_types[0].shape)));
}

void write(HloWriter& w) {
  // dynamic_reshape exists, and no target lowers it.
  if (!is_static(w.node().results[0].shape)) return w.refuse("a reshape of symbolic dims has no form");
  write_functional(w, "");
}

}  // namespace

constinit const OpDef kReshape = checked({.name = "reshape",
                                          .level = OpLevel::kCore,
                                          .summary = "the same elements in row-major order under another shape",
                                          .spec = "stablehlo spec.md#reshape",
                                          .operands = 1,
                                          .attrs = kAttrs,
                                          .infer = infer,
                                          .eval_f32 = eval<float>,
                                          .eval_f64 = eval<double>,
                                          .hlo = write});

}  // namespace headrace::ops
