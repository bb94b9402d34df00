#include "ops/def.h"
#include "ops/strided.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"start", AttrKind::kShape}, {"limit", AttrKind::kShape}, {"stride", AttrKind::kInts}};

// One dim of the result. Bounds must hold for every value of the symbols, taken as >= 0.
Result<Dim> sliced(const Type& x, size_t d, const Dim& start, const Dim& limit, int64_t stride) {
  const auto refuse = [&](std::string_view label) {
    return fail(ErrorCode::kInfer, "[{}:{}:{}] of dim {} of {} ({})", to_string(start), to_string(limit), stride, d,
                to_string(x), label);
  };
  if (stride <= 0) return refuse("slice_c4");
  HR_TRY(const Dim length, difference(limit, start, "slice_c3"));
  HR_TRY(const Dim rest, difference(x.shape[d], limit, "slice_c3"));
  if (!never_negative(start) || !never_negative(length) || !never_negative(rest)) return refuse("slice_c3");
  if (stride == 1) return length;
  if (!length.is_static()) return refuse("slice_c5: a stride over a symbolic length");
  return Dim(length.value() / stride + (length.value() % stride == 0 ? 0 : 1));
}

Result<Types> infer(const InferArgs& args) {
  const Type& x = args.operands[0];
  const auto& start = attr<Shape>(args.attrs, 0);
  const auto& limit = attr<Shape>(args.attrs, 1);
  const auto& stride = attr<Ints>(args.attrs, 2);
  if (start.size() != x.shape.size() || limit.size() != x.shape.size() || stride.size() != x.shape.size())
    return fail(ErrorCode::kInfer, "start {}, limit {}, stride {} for operand {} (slice_c2)", to_string(start),
                to_string(limit), to_string(stride), to_string(x));
  Type out{x.dtype, {}};
  for (size_t d = 0; d < start.size(); ++d) {
    HR_TRY(Dim dim, sliced(x, d, start[d], limit[d], stride[d]));
    out.shape.push_back(std::move(dim));
  }
  return Types{out};
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& x = ctx.operands[0];
  const auto& stride = attr<Ints>(ctx.node.attrs, 2);
  HostTensor<F> out = fresh(ctx);
  Ints source = strides_of(x.sizes());
  int64_t base = 0;
  for (size_t d = 0; d < source.size(); ++d) {
    base += substitute(attr<Shape>(ctx.node.attrs, 0)[d], ctx.symbols).value() * source[d];
    if (out.sizes()[d] > 1) source[d] *= stride[d];
  }
  if (out.elements() == 0) return one(std::move(out));
  Strided<2> plan(out.sizes(), {strides_of(out.sizes()), std::move(source)});
  copy(plan, out, 0, x, base);
  return one(std::move(out));
}

void write_dynamic(HloWriter& w) {
  const auto& stride = attr<Ints>(w.node().attrs, 2);
  const std::string start = w.extents(attr<Shape>(w.node().attrs, 0));
  const std::string limit = w.extents(attr<Shape>(w.node().attrs, 1));
  const std::string steps = w.extents(Shape(stride.begin(), stride.end()));
  const std::string index = fmt::format("tensor<{}xi32>", stride.size());
  w.result(fmt::format("stablehlo.real_dynamic_slice {}, {}, {}, {} : ({}, {}, {}, {}) -> {}", w.operand(0), start,
                       limit, steps, w.operand_type(0), index, index, index, w.result_type(0)));
}

void write(HloWriter& w) {
  if (!is_static(w.operand_ir_type(0).shape)) return write_dynamic(w);
  const auto& start = attr<Shape>(w.node().attrs, 0);
  const auto& limit = attr<Shape>(w.node().attrs, 1);
  const auto& stride = attr<Ints>(w.node().attrs, 2);
  std::string ranges;
  for (size_t d = 0; d < start.size(); ++d) {
    ranges += fmt::format("{}{}:{}", d == 0 ? "" : ", ", to_string(start[d]), to_string(limit[d]));
    if (stride[d] != 1) ranges += fmt::format(":{}", stride[d]);
  }
  write_functional(w, fmt::format(" [{}]", ranges));
}

}  // namespace

constinit const OpDef kSlice = checked({.name = "slice",
                                        .level = OpLevel::kCore,
                                        .summary = "the elements from start up to limit, every stride-th, in each dim",
                                        .spec = "stablehlo spec.md#slice",
                                        .operands = 1,
                                        .attrs = kAttrs,
                                        .infer = infer,
                                        .eval_f32 = eval<float>,
                                        .eval_f64 = eval<double>,
                                        .hlo = write});

}  // namespace headrace::ops
