#include "ops/def.h"

namespace headrace::ops {

namespace {

Result<Types> infer(const InferArgs& args) {
  const Type& pred = args.operands[0];
  const Type& a = args.operands[1];
  const Type& b = args.operands[2];
  if (pred.dtype != DType::kI1) return fail(ErrorCode::kInfer, "pred is {}, wanted i1 (select_i1)", to_string(pred));
  if (!pred.shape.empty() && pred.shape != a.shape)
    return fail(ErrorCode::kInfer, "pred is {}, on_true is {} (select_c1)", to_string(pred), to_string(a));
  if (!(a == b))
    return fail(ErrorCode::kInfer, "on_true is {}, on_false is {} (select_c2)", to_string(a), to_string(b));
  return Types{a};
}

template <class T>
void choose(std::span<const int64_t> pred, size_t pred_step, std::span<const T> a, std::span<const T> b,
            std::span<T> to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = pred[i * pred_step] != 0 ? a[i] : b[i];
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& a = ctx.operands[1];
  const HostTensor<F>& b = ctx.operands[2];
  const auto pred = ctx.operands[0].ints();
  const size_t step = ctx.operands[0].rank() == 0 ? 0 : 1;
  HostTensor<F> out = fresh(ctx);
  if (is_float(out.dtype())) {
    choose(pred, step, a.floats(), b.floats(), out.mutable_floats());
  } else {
    choose(pred, step, a.ints(), b.ints(), out.mutable_ints());
  }
  return one(std::move(out));
}

void write(HloWriter& w) {
  w.result(fmt::format("stablehlo.select {} : {}, {}", operand_list(w), w.operand_type(0), w.result_type(0)));
}

}  // namespace

constinit const OpDef kSelect = checked({.name = "select",
                                         .level = OpLevel::kCore,
                                         .summary = "operand 1 where the i1 operand 0 is true, else operand 2",
                                         .spec = "stablehlo spec.md#select",
                                         .operands = 3,
                                         .infer = infer,
                                         .eval_f32 = eval<float>,
                                         .eval_f64 = eval<double>,
                                         .hlo = write});

}  // namespace headrace::ops
