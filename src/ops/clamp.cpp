#include "ops/elementwise_binary.h"

namespace headrace::ops {

namespace {

Result<Types> infer(const InferArgs& args) {
  const Type& x = args.operands[1];
  HR_TRY_STATUS(check_kind(x, kNumbers, "operand", "clamp_i2"));
  for (const size_t i : {size_t{0}, size_t{2}}) {
    const Type& bound = args.operands[i];
    if (!bound.shape.empty() && bound.shape != x.shape)
      return fail(ErrorCode::kInfer, "{} is {}, operand is {} (clamp_c{})", i == 0 ? "min" : "max", to_string(bound),
                  to_string(x), i == 0 ? 1 : 2);
    if (bound.dtype != x.dtype)
      return fail(ErrorCode::kInfer, "{} is {}, operand is {} (clamp_c3)", i == 0 ? "min" : "max", to_string(bound),
                  to_string(x));
  }
  return Types{x};
}

// minimum(maximum(x, low), high), as the specification puts it: NaN anywhere gives NaN.
template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const auto& [low, x, high] = std::tie(ctx.operands[0], ctx.operands[1], ctx.operands[2]);
  HostTensor<F> out = fresh(ctx);
  const size_t low_step = low.rank() == 0 ? 0 : 1;
  const size_t high_step = high.rank() == 0 ? 0 : 1;
  if (is_float(out.dtype())) {
    const auto to = out.mutable_floats();
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = scalar::Minimum::real(scalar::Maximum::real(x.floats()[i], low.floats()[i * low_step]),
                                    high.floats()[i * high_step]);
  } else {
    const DType dtype = out.dtype();
    const auto to = out.mutable_ints();
    for (size_t i = 0; i < to.size(); ++i)
      to[i] = scalar::Minimum::integer(dtype, scalar::Maximum::integer(dtype, x.ints()[i], low.ints()[i * low_step]),
                                       high.ints()[i * high_step]);
  }
  return one(std::move(out));
}

void write(HloWriter& w) { write_functional(w, ""); }

}  // namespace

constinit const OpDef kClamp = checked({.name = "clamp",
                                        .level = OpLevel::kCore,
                                        .summary = "operand 1 kept between operand 0 and operand 2",
                                        .spec = "stablehlo spec.md#clamp",
                                        .operands = 3,
                                        .attrs = {},
                                        .infer = infer,
                                        .eval_f32 = eval<float>,
                                        .eval_f64 = eval<double>,
                                        .hlo = write});

}  // namespace headrace::ops
