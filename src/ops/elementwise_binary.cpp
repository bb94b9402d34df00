// Ops of two operands of one type, element by element; their scalar meaning is in elementwise_binary.h.
#include "ops/elementwise_binary.h"

namespace headrace::ops {

namespace {

template <class Op>
Result<Types> infer(const InferArgs& args) {
  return infer_elementwise(Op::kName, Op::kKinds, args.operands);
}

template <class Op, class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& a = ctx.operands[0];
  const HostTensor<F>& b = ctx.operands[1];
  HostTensor<F> out = fresh(ctx);
  if (is_float(out.dtype())) {
    if constexpr (Op::kKinds.floating) {
      const auto x = a.floats();
      const auto y = b.floats();
      const auto to = out.mutable_floats();
      for (size_t i = 0; i < to.size(); ++i) to[i] = Op::real(x[i], y[i]);
    }
  } else {
    const auto x = a.ints();
    const auto y = b.ints();
    const auto to = out.mutable_ints();
    for (size_t i = 0; i < to.size(); ++i) to[i] = Op::integer(out.dtype(), x[i], y[i]);
  }
  out.settle();
  return one(std::move(out));
}

template <class Op>
constexpr OpDef binary(std::string_view spec) {
  return checked({.name = Op::kName,
                  .level = OpLevel::kCore,
                  .summary = Op::kSummary,
                  .spec = spec,
                  .operands = 2,
                  .infer = infer<Op>,
                  .eval_f32 = eval<Op, float>,
                  .eval_f64 = eval<Op, double>,
                  .hlo = write_same_type});
}

}  // namespace

constinit const OpDef kAdd = binary<scalar::Add>("stablehlo spec.md#add");
constinit const OpDef kAnd = binary<scalar::And>("stablehlo spec.md#and");
constinit const OpDef kDivide = binary<scalar::Divide>("stablehlo spec.md#divide");
constinit const OpDef kMaximum = binary<scalar::Maximum>("stablehlo spec.md#maximum");
constinit const OpDef kMinimum = binary<scalar::Minimum>("stablehlo spec.md#minimum");
constinit const OpDef kMultiply = binary<scalar::Multiply>("stablehlo spec.md#multiply");
constinit const OpDef kOr = binary<scalar::Or>("stablehlo spec.md#or");
constinit const OpDef kPower = binary<scalar::Power>("stablehlo spec.md#power");
constinit const OpDef kRemainder = binary<scalar::Remainder>("stablehlo spec.md#remainder");
constinit const OpDef kShiftLeft = binary<scalar::ShiftLeft>("stablehlo spec.md#shift_left");
constinit const OpDef kShiftRightArithmetic =
    binary<scalar::ShiftRightArithmetic>("stablehlo spec.md#shift_right_arithmetic");
constinit const OpDef kShiftRightLogical = binary<scalar::ShiftRightLogical>("stablehlo spec.md#shift_right_logical");
constinit const OpDef kSubtract = binary<scalar::Subtract>("stablehlo spec.md#subtract");
constinit const OpDef kXor = binary<scalar::Xor>("stablehlo spec.md#xor");

}  // namespace headrace::ops
