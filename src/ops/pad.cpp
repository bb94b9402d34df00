#include "base/checked.h"
#include "ops/def.h"
#include "ops/strided.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"low", AttrKind::kInts}, {"high", AttrKind::kInts}, {"interior", AttrKind::kInts}};

Result<Dim> padded(const Type& x, size_t d, int64_t low, int64_t high, int64_t interior) {
  const auto refuse = [&](std::string_view label) {
    return fail(ErrorCode::kInfer, "low {}, high {}, interior {} on dim {} of {} ({})", low, high, interior, d,
                to_string(x), label);
  };
  if (interior < 0) return refuse("pad_c3");
  Dim out = x.shape[d];
  if (interior > 0) {
    if (!out.is_static()) return refuse("pad_c4: interior padding of a symbolic dim");
    const auto between = checked_mul(std::max<int64_t>(out.value() - 1, 0), interior);
    if (!between) return refuse("pad_c4");
    HR_TRY(out, sum(out, *between, "pad_c4"));
  }
  HR_TRY(out, sum(out, low, "pad_c4"));
  HR_TRY(out, sum(out, high, "pad_c4"));
  if (!never_negative(out)) return refuse("pad_c4");
  return out;
}

Result<Types> infer(const InferArgs& args) {
  const Type& x = args.operands[0];
  const Type& value = args.operands[1];
  if (value.dtype != x.dtype || !value.shape.empty())
    return fail(ErrorCode::kInfer, "padding value {} for operand {} (pad_c1)", to_string(value), to_string(x));
  const auto& low = attr<Ints>(args.attrs, 0);
  const auto& high = attr<Ints>(args.attrs, 1);
  const auto& interior = attr<Ints>(args.attrs, 2);
  const size_t rank = x.shape.size();
  if (low.size() != rank || high.size() != rank || interior.size() != rank)
    return fail(ErrorCode::kInfer, "low {}, high {}, interior {} for operand {} (pad_c2)", to_string(low),
                to_string(high), to_string(interior), to_string(x));
  Type out{x.dtype, {}};
  for (size_t d = 0; d < rank; ++d) {
    HR_TRY(Dim dim, padded(x, d, low[d], high[d], interior[d]));
    out.shape.push_back(std::move(dim));
  }
  return Types{out};
}

int64_t ceil_divide(int64_t a, int64_t positive) { return a <= 0 ? 0 : (a - 1) / positive + 1; }

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& x = ctx.operands[0];
  const auto& low = attr<Ints>(ctx.node.attrs, 0);
  const auto& interior = attr<Ints>(ctx.node.attrs, 2);
  HostTensor<F> out = fresh(ctx);
  const size_t rank = low.size();
  Strided<2> fill(out.sizes(), {strides_of(out.sizes()), Ints(rank, 0)});
  copy(fill, out, 0, ctx.operands[1], 0);
  // Negative padding cuts: of each dim only the elements first .. last land in the result.
  Ints to = strides_of(out.sizes());
  const Ints from = strides_of(x.sizes());
  Ints kept(rank);
  int64_t out_base = 0;
  int64_t x_base = 0;
  for (size_t d = 0; d < rank; ++d) {
    // A single element has nothing between it and the next, however large `interior` is.
    const int64_t pace = x.sizes()[d] > 1 ? interior[d] + 1 : 1;
    const int64_t first = ceil_divide(-low[d], pace);
    const int64_t last = std::min(x.sizes()[d], ceil_divide(out.sizes()[d] - low[d], pace));
    if (first >= last) return one(std::move(out));
    kept[d] = last - first;
    out_base += (low[d] + first * pace) * to[d];
    x_base += first * from[d];
    if (kept[d] > 1) to[d] *= pace;
  }
  Strided<2> plan(kept, {to, from});
  copy(plan, out, out_base, x, x_base);
  return one(std::move(out));
}

void write(HloWriter& w) {
  const auto list = [&](size_t i) { return to_string(attr<Ints>(w.node().attrs, i)); };
  write_functional(w, fmt::format(", low = {}, high = {}, interior = {}", list(0), list(1), list(2)));
}

}  // namespace

constinit const OpDef kPad = checked({.name = "pad",
                                      .level = OpLevel::kCore,
                                      .summary = "adds a value around and between elements; negative amounts cut",
                                      .spec = "stablehlo spec.md#pad",
                                      .operands = 2,
                                      .attrs = kAttrs,
                                      .infer = infer,
                                      .eval_f32 = eval<float>,
                                      .eval_f64 = eval<double>,
                                      .hlo = write});

}  // namespace headrace::ops
