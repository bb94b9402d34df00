// parameter, constant, iota: ops without operands.
#include "ops/def.h"
#include "ops/strided.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kParameterAttrs[] = {
    {"name", AttrKind::kString}, {"dtype", AttrKind::kDType}, {"shape", AttrKind::kShape}};
constexpr AttrSpec kConstantAttrs[] = {{"value", AttrKind::kLiteral}};
constexpr AttrSpec kIotaAttrs[] = {{"dtype", AttrKind::kDType}, {"shape", AttrKind::kShape}, {"dim", AttrKind::kInt}};

Result<Types> infer_parameter(const InferArgs& args) {
  const auto& shape = attr<Shape>(args.attrs, 2);
  if (attr<std::string>(args.attrs, 0).empty())
    return fail(ErrorCode::kInfer, "a parameter without a name (parameter_c1)");
  if (!is_static(shape))
    return fail(ErrorCode::kInfer, "parameter '{}' has the symbolic shape {} (parameter_c2)",
                attr<std::string>(args.attrs, 0), to_string(shape));
  HR_TRY_STATUS(check_shape(shape, "parameter_c2"));
  return Types{{attr<DType>(args.attrs, 1), shape}};
}

template <class F>
Result<Tensors<F>> eval_parameter(EvalContext<F>& ctx) {
  const auto& name = attr<std::string>(ctx.node.attrs, 0);
  HR_TRY(HostTensor<F> value, ctx.parameter(name));
  const Type& want = ctx.result_types[0];
  const Type have{value.dtype(), Shape(value.sizes().begin(), value.sizes().end())};
  if (!(have == want))
    return fail(ErrorCode::kEvaluate, "parameter '{}' is {}, wanted {}", name, to_string(have), to_string(want));
  return one(std::move(value));
}

Result<Types> infer_constant(const InferArgs& args) {
  const auto& value = attr<Literal>(args.attrs, 0);
  return Types{{value.dtype, Shape(value.sizes.begin(), value.sizes.end())}};
}

template <class F>
Result<Tensors<F>> eval_constant(EvalContext<F>& ctx) {
  return one(to_tensor<F>(attr<Literal>(ctx.node.attrs, 0)));
}

void write_constant(HloWriter& w) { w.result("stablehlo.constant " + w.literal(attr<Literal>(w.node().attrs, 0))); }

Result<Types> infer_iota(const InferArgs& args) {
  const Type type{attr<DType>(args.attrs, 0), attr<Shape>(args.attrs, 1)};
  const int64_t dim = attr<int64_t>(args.attrs, 2);
  HR_TRY_STATUS(check_kind(type, kNumbers, "result", "iota_o1"));
  HR_TRY_STATUS(check_shape(type.shape, "iota_o1"));
  if (dim < 0 || index(dim) >= type.shape.size())
    return fail(ErrorCode::kInfer, "dim {} of {} (iota_c1)", dim, to_string(type));
  return Types{type};
}

template <class F>
Result<Tensors<F>> eval_iota(EvalContext<F>& ctx) {
  HostTensor<F> out = fresh(ctx);
  const auto strides = strides_of(out.sizes());
  const int64_t dim = attr<int64_t>(ctx.node.attrs, 2);
  const int64_t inner = strides[index(dim)];
  const int64_t size = size_at(out.sizes(), dim);
  const auto fill = [&](auto to) {
    using T = std::remove_reference_t<decltype(to[0])>;
    for (size_t at = 0, i = 0; at < to.size(); ++i)
      for (int64_t e = 0; e < inner; ++e) to[at++] = static_cast<T>(static_cast<int64_t>(i) % size);
  };
  if (is_float(out.dtype())) {
    fill(out.mutable_floats());
  } else {
    fill(out.mutable_ints());
  }
  out.settle();
  return one(std::move(out));
}

void write_iota(HloWriter& w) {
  const Shape& shape = w.node().results[0].shape;
  if (!is_static(shape)) {
    const std::string sizes = w.extents(shape);
    return w.result(fmt::format("stablehlo.dynamic_iota {}, dim = {} : (tensor<{}xi32>) -> {}", sizes,
                                attr<int64_t>(w.node().attrs, 2), shape.size(), w.result_type(0)));
  }
  w.result(fmt::format("stablehlo.iota dim = {} : {}", attr<int64_t>(w.node().attrs, 2), w.result_type(0)));
}

}  // namespace

constinit const OpDef kParameter = checked({.name = "parameter",
                                            .level = OpLevel::kCore,
                                            .summary = "a weight of the module, by the checkpoint's tensor name",
                                            .spec = "docs/ops.md#parameter",
                                            .attrs = kParameterAttrs,
                                            .infer = infer_parameter,
                                            .eval_f32 = eval_parameter<float>,
                                            .eval_f64 = eval_parameter<double>});

constinit const OpDef kConstant = checked({.name = "constant",
                                           .level = OpLevel::kCore,
                                           .summary = "a literal of static shape",
                                           .spec = "stablehlo spec.md#constant",
                                           .attrs = kConstantAttrs,
                                           .infer = infer_constant,
                                           .eval_f32 = eval_constant<float>,
                                           .eval_f64 = eval_constant<double>,
                                           .hlo = write_constant});

constinit const OpDef kIota = checked({.name = "iota",
                                       .level = OpLevel::kCore,
                                       .summary = "0, 1, 2, ... along one dim",
                                       .spec = "stablehlo spec.md#iota",
                                       .attrs = kIotaAttrs,
                                       .infer = infer_iota,
                                       .eval_f32 = eval_iota<float>,
                                       .eval_f64 = eval_iota<double>,
                                       .hlo = write_iota});

}  // namespace headrace::ops
