#include "ops/def.h"
#include "ops/strided.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"permutation", AttrKind::kInts}};

Result<Types> infer(const InferArgs& args) {
  const Type& x = args.operands[0];
  const auto& permutation = attr<Ints>(args.attrs, 0);
  HR_TRY_STATUS(check_axes(permutation, x.shape.size(), "permutation", "transpose_c2", "transpose_c2"));
  if (permutation.size() != x.shape.size())
    return fail(ErrorCode::kInfer, "permutation {} for operand {} (transpose_c2)", to_string(permutation),
                to_string(x));
  Type out{x.dtype, {}};
  for (const int64_t axis : permutation) out.shape.push_back(x.shape[index(axis)]);
  return Types{out};
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  HostTensor<F> out = fresh(ctx);
  const auto x_strides = strides_of(ctx.operands[0].sizes());
  Ints source;
  for (const int64_t axis : attr<Ints>(ctx.node.attrs, 0)) source.push_back(x_strides[index(axis)]);
  Strided<2> plan(out.sizes(), {strides_of(out.sizes()), std::move(source)});
  copy(plan, out, 0, ctx.operands[0], 0);
  return one(std::move(out));
}

void write(HloWriter& w) { write_functional(w, fmt::format(", dims = {}", to_string(attr<Ints>(w.node().attrs, 0)))); }

}  // namespace

constinit const OpDef kTranspose = checked({.name = "transpose",
                                            .level = OpLevel::kCore,
                                            .summary = "permutes dims: result dim i is operand dim permutation[i]",
                                            .spec = "stablehlo spec.md#transpose",
                                            .operands = 1,
                                            .attrs = kAttrs,
                                            .infer = infer,
                                            .eval_f32 = eval<float>,
                                            .eval_f64 = eval<double>,
                                            .hlo = write});

}  // namespace headrace::ops
