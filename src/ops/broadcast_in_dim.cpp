#include "ops/def.h"
#include "ops/strided.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"shape", AttrKind::kShape}, {"dims", AttrKind::kInts}};

Result<Types> infer(const InferArgs& args) {
  const Type& x = args.operands[0];
  const auto& shape = attr<Shape>(args.attrs, 0);
  const auto& dims = attr<Ints>(args.attrs, 1);
  HR_TRY_STATUS(check_shape(shape, "broadcast_in_dim_o1"));
  if (dims.size() != x.shape.size())
    return fail(ErrorCode::kInfer, "dims {} for operand {} (broadcast_in_dim_c2)", to_string(dims), to_string(x));
  HR_TRY_STATUS(check_axes(dims, shape.size(), "dims", "broadcast_in_dim_c3", "broadcast_in_dim_c4"));
  for (size_t d = 0; d < dims.size(); ++d) {
    const Dim& target = shape[index(dims[d])];
    if (x.shape[d] == Dim(1) || x.shape[d] == target) continue;
    return fail(ErrorCode::kInfer, "dim {} of {} is {}, dim {} of {} is {} (broadcast_in_dim_c5)", d, to_string(x),
                to_string(x.shape[d]), dims[d], to_string(shape), to_string(target));
  }
  return Types{{x.dtype, shape}};
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& x = ctx.operands[0];
  const auto& dims = attr<Ints>(ctx.node.attrs, 1);
  HostTensor<F> out = fresh(ctx);
  const auto x_strides = strides_of(x.sizes());
  Ints source(out.sizes().size(), 0);
  for (size_t d = 0; d < dims.size(); ++d)
    if (x.sizes()[d] != 1) source[index(dims[d])] = x_strides[d];
  Strided<2> plan(out.sizes(), {strides_of(out.sizes()), std::move(source)});
  copy(plan, out, 0, x, 0);
  return one(std::move(out));
}

// With symbolic dims the lowering wants to know of every operand dim whether it stretches.
void write_dynamic(HloWriter& w) {
  const Shape& x = w.operand_ir_type(0).shape;
  const Shape& shape = w.node().results[0].shape;
  const auto& dims = attr<Ints>(w.node().attrs, 1);
  Ints stretched;
  Ints kept;
  for (size_t d = 0; d < dims.size(); ++d) {
    const bool same = x[d] == shape[index(dims[d])];
    (same ? kept : stretched).push_back(static_cast<int64_t>(d));
  }
  const auto array = [](const Ints& values) {
    return values.empty() ? std::string("array<i64>") : fmt::format("array<i64: {}>", fmt::join(values, ", "));
  };
  const std::string sizes = w.extents(shape);
  w.result(
      fmt::format("\"stablehlo.dynamic_broadcast_in_dim\"({}, {}) <{{broadcast_dimensions = {}, "
                  "known_expanding_dimensions = {}, known_nonexpanding_dimensions = {}}}> : ({}, tensor<{}xi32>) -> {}",
                  w.operand(0), sizes, array(dims), array(stretched), array(kept), w.operand_type(0), shape.size(),
                  w.result_type(0)));
}

void write(HloWriter& w) {
  if (!is_static(w.node().results[0].shape)) return write_dynamic(w);
  write_functional(w, fmt::format(", dims = {}", to_string(attr<Ints>(w.node().attrs, 1))));
}

}  // namespace

constinit const OpDef kBroadcastInDim = checked({.name = "broadcast_in_dim",
                                                 .level = OpLevel::kCore,
                                                 .summary = "repeats dims of size 1 and adds new ones",
                                                 .spec = "stablehlo spec.md#broadcast_in_dim",
                                                 .operands = 1,
                                                 .attrs = kAttrs,
                                                 .infer = infer,
                                                 .eval_f32 = eval<float>,
                                                 .eval_f64 = eval<double>,
                                                 .hlo = write});

}  // namespace headrace::ops
