#include "ops/def.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"carried", AttrKind::kInt}};

Result<Types> infer(const InferArgs& args) {
  const int64_t carried = attr<int64_t>(args.attrs, 0);
  if (carried < 1 || index(carried) > args.operands.size())
    return fail(ErrorCode::kInfer, "{} carried values with {} operands (while_c3)", carried, args.operands.size());
  const Types all(args.operands.begin(), args.operands.end());
  const Types state(args.operands.begin(), args.operands.begin() + carried);
  const Types pred{{DType::kI1, {}}};
  const auto check = [&](const Graph& region, const Types& results, std::string_view what, std::string_view label) {
    if (region.input_types() == all && region.result_types() == results) return Status();
    return Status(fail(ErrorCode::kInfer, "{} is {} -> {}, wanted {} -> {} ({})", what, to_string(region.input_types()),
                       to_string(region.result_types()), to_string(all), to_string(results), label));
  };
  HR_TRY_STATUS(check(*args.regions[0], pred, "cond", "while_c1"));
  HR_TRY_STATUS(check(*args.regions[1], state, "body", "while_c2"));
  return state;
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const auto carried = static_cast<std::ptrdiff_t>(attr<int64_t>(ctx.node.attrs, 0));
  Tensors<F> state(ctx.operands.begin(), ctx.operands.begin() + carried);
  const auto with_captures = [&] {
    Tensors<F> args = state;
    args.insert(args.end(), ctx.operands.begin() + carried, ctx.operands.end());
    return args;
  };
  while (true) {
    HR_TRY(const Tensors<F> pred, ctx.run(*ctx.node.regions[0], with_captures()));
    if (pred[0].ints()[0] == 0) return state;
    HR_TRY(state, ctx.run(*ctx.node.regions[1], with_captures()));
  }
}

void write(HloWriter& w) {
  const size_t carried = index(attr<int64_t>(w.node().attrs, 0));
  const std::string cond = w.region(0, carried, carried);
  const std::string body = w.region(1, carried, carried);
  w.result(fmt::format("\"stablehlo.while\"({}) ({}, {}) : {}", operand_list(w, 0, carried), cond, body,
                       function_type(w, carried)));
}

}  // namespace

constinit const OpDef kWhile = checked({.name = "while",
                                        .level = OpLevel::kCore,
                                        .summary = "repeats a body on carried values as long as a condition holds",
                                        .spec = "stablehlo spec.md#while",
                                        .operands = -1,
                                        .attrs = kAttrs,
                                        .regions = 2,
                                        .infer = infer,
                                        .eval_f32 = eval<float>,
                                        .eval_f64 = eval<double>,
                                        .hlo = write});

}  // namespace headrace::ops
