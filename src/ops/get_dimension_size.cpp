#include "ops/def.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"dim", AttrKind::kInt}};

Result<Types> infer(const InferArgs& args) {
  const int64_t dim = attr<int64_t>(args.attrs, 0);
  if (dim < 0 || index(dim) >= args.operands[0].shape.size())
    return fail(ErrorCode::kInfer, "dim {} of {} (get_dimension_size_c1)", dim, to_string(args.operands[0]));
  return Types{{DType::kI32, {}}};
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  HostTensor<F> out = fresh(ctx);
  out.mutable_ints()[0] = size_at(ctx.operands[0].sizes(), attr<int64_t>(ctx.node.attrs, 0));
  out.settle();
  return one(std::move(out));
}

void write(HloWriter& w) { write_functional(w, fmt::format(", dim = {}", attr<int64_t>(w.node().attrs, 0))); }

}  // namespace

constinit const OpDef kGetDimensionSize = checked({.name = "get_dimension_size",
                                                   .level = OpLevel::kCore,
                                                   .summary = "the size of one dim as i32[]",
                                                   .spec = "stablehlo spec.md#get_dimension_size",
                                                   .operands = 1,
                                                   .attrs = kAttrs,
                                                   .infer = infer,
                                                   .eval_f32 = eval<float>,
                                                   .eval_f64 = eval<double>,
                                                   .hlo = write});

}  // namespace headrace::ops
