// Defined in docs/structured-ops.md#linear.
#include <optional>

#include "base/checked.h"
#include "ops/contraction.h"
#include "ops/def.h"
#include "ops/strided.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"split_heads", AttrKind::kInts}, {"merge_heads", AttrKind::kInts}};

// The number of heads that factors stand for; nullopt for a factor below 1 or an overflow.
std::optional<int64_t> head_count(const Ints& factors) {
  std::optional<int64_t> out = 1;
  for (const int64_t f : factors) out = out && f >= 1 ? checked_mul(*out, f) : std::nullopt;
  return out;
}

// The shape of x with its heads merged: [.., in].
Result<Shape> merged_input(const Type& x, const Ints& merge) {
  const auto refuse = [&](std::string_view what) {
    return fail(ErrorCode::kInfer, "x is {}, merge_heads {}: {} (linear_c2)", to_string(x), to_string(merge), what);
  };
  if (merge.empty()) {
    if (x.shape.size() < 2) return refuse("wanted rank 2 or more");
    return x.shape;
  }
  const auto heads = head_count(merge);
  if (!heads) return refuse("not positive, or too many");
  bool fits = x.shape.size() == merge.size() + 3;
  for (size_t i = 0; fits && i < merge.size(); ++i) fits = x.shape[i + 1] == Dim(merge[i]);
  if (!fits) return refuse("wanted [batch, heads.., sequence, width]");
  const Dim& width = x.shape.back();
  if (!width.is_static()) return refuse("a symbolic width");
  const auto in = checked_mul(width.value(), *heads);
  if (!in) return refuse("too wide");
  return Shape{x.shape[0], x.shape[merge.size() + 1], *in};
}

Result<Types> infer(const InferArgs& args) {
  if (args.operands.size() != 2 && args.operands.size() != 3)
    return fail(ErrorCode::kInfer, "{} operands, wanted x, w and perhaps a bias (linear_i1)", args.operands.size());
  const Type& x = args.operands[0];
  const Type& w = args.operands[1];
  const auto& split = attr<Ints>(args.attrs, 0);
  HR_TRY_STATUS(check_kind(x, kFloats, "x", "linear_i1"));
  HR_TRY_STATUS(check_kind(w, kFloats, "w", "linear_i2"));
  if (w.shape.size() != 2 || !is_static(w.shape))
    return fail(ErrorCode::kInfer, "w is {}, wanted [out, in] (linear_i2)", to_string(w));
  HR_TRY(const Shape in, merged_input(x, attr<Ints>(args.attrs, 1)));
  if (in.back() != w.shape[1])
    return fail(ErrorCode::kInfer, "x is {}, w is {}: {} columns against {} (linear_c1)", to_string(x), to_string(w),
                to_string(in.back()), to_string(w.shape[1]));
  if (args.operands.size() == 3) {
    const Type& bias = args.operands[2];
    if (!is_float(bias.dtype) || bias.shape != Shape{w.shape[0]})
      return fail(ErrorCode::kInfer, "bias is {}, w is {} (linear_c3)", to_string(bias), to_string(w));
  }
  Type out{x.dtype, in};
  out.shape.back() = w.shape[0];
  if (split.empty()) return Types{out};
  const auto heads = head_count(split);
  if (!heads || out.shape.size() != 3 || w.shape[0].value() % *heads != 0)
    return fail(ErrorCode::kInfer, "split_heads {} of {} (linear_c4)", to_string(split), to_string(out));
  out.shape = {in[0]};
  out.shape.insert(out.shape.end(), split.begin(), split.end());
  out.shape.insert(out.shape.end(), {in[1], w.shape[0].value() / *heads});
  return Types{out};
}

// [B, H, S, D] as [B, S, H, D], or back: the middle dims change places.
template <class F>
HostTensor<F> swap_middle(const HostTensor<F>& x, const Ints& s) {
  HostTensor<F> out(x.dtype(), {s[0], s[2], s[1], s[3]});
  const Ints from = strides_of(s);
  Strided<2> plan(out.sizes(), {strides_of(out.sizes()), {from[0], from[2], from[1], from[3]}});
  copy(plan, out, 0, x, 0);
  return out;
}

// [B, heads.., S, D] with its `factors` dims of heads as one.
Ints heads_as_one(const Ints& sizes, size_t factors) {
  int64_t heads = 1;
  for (size_t i = 1; i <= factors; ++i) heads *= sizes[i];
  return {sizes[0], heads, sizes[factors + 1], sizes[factors + 2]};
}

// y = x w^T + bias in F, rounded once.
template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& w = ctx.operands[1];
  const int64_t out_width = w.sizes()[0];
  const int64_t in_width = w.sizes()[1];
  const auto& merge = attr<Ints>(ctx.node.attrs, 1);
  const auto& split = attr<Ints>(ctx.node.attrs, 0);
  const HostTensor<F> x = merge.empty()
                              ? ctx.operands[0]
                              : swap_middle(ctx.operands[0], heads_as_one(ctx.operands[0].sizes(), merge.size()));
  int64_t rows = 1;
  for (const Dim& dim : ctx.result_types[0].shape) rows *= dim.value();
  rows = out_width == 0 ? 0 : rows / out_width;
  HostTensor<F> y(x.dtype(), {rows, out_width});
  const auto to = y.mutable_floats();
  contract(ctx, Contraction<F>{.batch = 1,
                               .m = rows,
                               .n = out_width,
                               .k = in_width,
                               .a = x.floats().data(),
                               .a_row_stride = in_width,
                               .a_col_stride = 1,
                               .b = w.floats().data(),
                               .b_row_stride = in_width,
                               .b_col_stride = 1,
                               .c = to.data()});
  if (ctx.operands.size() == 3) {
    const auto bias = ctx.operands[2].floats();
    for (size_t row = 0; row < index(rows); ++row)
      for (size_t j = 0; j < bias.size(); ++j) to[row * bias.size() + j] += bias[j];
  }
  y.settle();
  const Ints sizes = static_sizes(ctx.result_types[0].shape);
  if (split.empty()) return one(y.reshaped(sizes));
  const Ints s = heads_as_one(sizes, split.size());
  return one(swap_middle(y, {s[0], s[2], s[1], s[3]}).reshaped(sizes));
}

}  // namespace

constinit const OpDef kLinear = checked({.name = "linear",
                                         .level = OpLevel::kStructured,
                                         .summary = "x w^T (+ bias), with heads split off or merged on the way",
                                         .spec = "docs/structured-ops.md#linear",
                                         .operands = -1,
                                         .attrs = kAttrs,
                                         .infer = infer,
                                         .eval_f32 = eval<float>,
                                         .eval_f64 = eval<double>,
                                         .hlo = nullptr});

}  // namespace headrace::ops
