#include <algorithm>

#include "ops/def.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"direction", AttrKind::kString}};
constexpr std::string_view kDirections[] = {"EQ", "NE", "LT", "LE", "GT", "GE"};

Result<Types> infer(const InferArgs& args) {
  const Type& a = args.operands[0];
  const Type& b = args.operands[1];
  const auto& direction = attr<std::string>(args.attrs, 0);
  if (std::ranges::find(kDirections, direction) == std::end(kDirections))
    return fail(ErrorCode::kInfer, "direction '{}', wanted one of {} (compare_i3)", direction,
                fmt::join(kDirections, ", "));
  if (a.dtype != b.dtype)
    return fail(ErrorCode::kInfer, "operands {} and {} differ (compare_c1)", to_string(a), to_string(b));
  if (a.shape != b.shape)
    return fail(ErrorCode::kInfer, "operands {} and {} differ (compare_c2)", to_string(a), to_string(b));
  return Types{{DType::kI1, a.shape}};
}

// IEEE comparisons: NaN is unequal to everything and neither less nor greater.
template <class T>
void compare(std::string_view direction, std::span<const T> a, std::span<const T> b, std::span<int64_t> to) {
  const auto run = [&](auto holds) {
    for (size_t i = 0; i < to.size(); ++i) to[i] = holds(a[i], b[i]) ? 1 : 0;
  };
  if (direction == "EQ") run([](T x, T y) { return x == y; });
  if (direction == "NE") run([](T x, T y) { return x != y; });
  if (direction == "LT") run([](T x, T y) { return x < y; });
  if (direction == "LE") run([](T x, T y) { return x <= y; });
  if (direction == "GT") run([](T x, T y) { return x > y; });
  if (direction == "GE") run([](T x, T y) { return x >= y; });
}

std::span<const uint64_t> as_unsigned(std::span<const int64_t> values) {
  return {reinterpret_cast<const uint64_t*>(values.data()), values.size()};
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& a = ctx.operands[0];
  const HostTensor<F>& b = ctx.operands[1];
  const auto& direction = attr<std::string>(ctx.node.attrs, 0);
  HostTensor<F> out = fresh(ctx);
  if (is_float(a.dtype())) {
    compare(direction, a.floats(), b.floats(), out.mutable_ints());
  } else if (info(a.dtype()).kind == DTypeKind::kInt) {
    compare(direction, a.ints(), b.ints(), out.mutable_ints());
  } else {
    compare(direction, as_unsigned(a.ints()), as_unsigned(b.ints()), out.mutable_ints());
  }
  return one(std::move(out));
}

void write(HloWriter& w) {
  const DType dtype = w.operand_ir_type(0).dtype;
  const std::string_view kind = is_float(dtype) ? "FLOAT" : info(dtype).kind == DTypeKind::kInt ? "SIGNED" : "UNSIGNED";
  w.result(fmt::format("stablehlo.compare {}, {}, {} : {}", attr<std::string>(w.node().attrs, 0), operand_list(w), kind,
                       function_type(w)));
}

}  // namespace

constinit const OpDef kCompare = checked({.name = "compare",
                                          .level = OpLevel::kCore,
                                          .summary = "EQ, NE, LT, LE, GT or GE, as i1",
                                          .spec = "stablehlo spec.md#compare",
                                          .operands = 2,
                                          .attrs = kAttrs,
                                          .infer = infer,
                                          .eval_f32 = eval<float>,
                                          .eval_f64 = eval<double>,
                                          .hlo = write});

}  // namespace headrace::ops
