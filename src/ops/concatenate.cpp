#include "ops/def.h"
#include "ops/strided.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"dim", AttrKind::kInt}};

Result<Types> infer(const InferArgs& args) {
  const int64_t dim = attr<int64_t>(args.attrs, 0);
  if (args.operands.empty()) return fail(ErrorCode::kInfer, "no operands (concatenate_c3)");
  Type out = args.operands[0];
  if (dim < 0 || index(dim) >= out.shape.size())
    return fail(ErrorCode::kInfer, "dim {} of {} (concatenate_c4)", dim, to_string(out));
  for (const Type& next : args.operands.subspan(1)) {
    if (next.dtype != out.dtype)
      return fail(ErrorCode::kInfer, "{} and {} differ in element type (concatenate_c1)", to_string(args.operands[0]),
                  to_string(next));
    Shape expected = out.shape;
    if (next.shape.size() == expected.size()) expected[index(dim)] = next.shape[index(dim)];
    if (next.shape != expected)
      return fail(ErrorCode::kInfer, "{} and {} differ outside dim {} (concatenate_c2)", to_string(args.operands[0]),
                  to_string(next), dim);
    HR_TRY(out.shape[index(dim)], sum(out.shape[index(dim)], next.shape[index(dim)], "concatenate_c6"));
  }
  return Types{out};
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  HostTensor<F> out = fresh(ctx);
  const auto strides = strides_of(out.sizes());
  const auto dim = index(attr<int64_t>(ctx.node.attrs, 0));
  int64_t base = 0;
  for (const HostTensor<F>& x : ctx.operands) {
    Strided<2> plan(x.sizes(), {strides, strides_of(x.sizes())});
    copy(plan, out, base, x, 0);
    base += x.sizes()[dim] * strides[dim];
  }
  return one(std::move(out));
}

void write(HloWriter& w) { write_functional(w, fmt::format(", dim = {}", attr<int64_t>(w.node().attrs, 0))); }

}  // namespace

constinit const OpDef kConcatenate = checked({.name = "concatenate",
                                              .level = OpLevel::kCore,
                                              .summary = "joins tensors along one dim",
                                              .spec = "stablehlo spec.md#concatenate",
                                              .operands = -1,
                                              .attrs = kAttrs,
                                              .infer = infer,
                                              .eval_f32 = eval<float>,
                                              .eval_f64 = eval<double>,
                                              .hlo = write});

}  // namespace headrace::ops
