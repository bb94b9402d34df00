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

// minimum(maximum(x, low), high), as the specification puts it: NaN anywhere gives NaN. A scalar bound has step 0.
template <class T, class Max, class Min>
void clamp(std::span<const T> low, std::span<const T> x, std::span<const T> high, std::span<T> to, Max max, Min min) {
  const size_t low_step = low.size() == x.size() ? 1 : 0;
  const size_t high_step = high.size() == x.size() ? 1 : 0;
  for (size_t i = 0; i < to.size(); ++i) to[i] = min(max(x[i], low[i * low_step]), high[i * high_step]);
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const auto& [low, x, high] = std::tie(ctx.operands[0], ctx.operands[1], ctx.operands[2]);
  HostTensor<F> out = fresh(ctx);
  if (is_float(out.dtype())) {
    clamp(low.floats(), x.floats(), high.floats(), out.mutable_floats(), scalar::Maximum::real<F>,
          scalar::Minimum::real<F>);
  } else {
    const DType dtype = out.dtype();
    clamp(
        low.ints(), x.ints(), high.ints(), out.mutable_ints(),
        [dtype](int64_t a, int64_t b) { return scalar::Maximum::integer(dtype, a, b); },
        [dtype](int64_t a, int64_t b) { return scalar::Minimum::integer(dtype, a, b); });
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
                                        .infer = infer,
                                        .eval_f32 = eval<float>,
                                        .eval_f64 = eval<double>,
                                        .hlo = write});

}  // namespace headrace::ops
