// reduce: operands are n inputs, n initial values and what the body captures; the body takes n accumulators, n elements
// and the captures. Elements are taken in row-major order, one after the other, in F.
#include <algorithm>

#include "ops/elementwise_binary.h"
#include "ops/strided.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"inputs", AttrKind::kInt}, {"dims", AttrKind::kInts}};

Status check_body(const Graph& body, std::span<const Type> operands, size_t n) {
  Types wanted;
  for (size_t pass = 0; pass < 2; ++pass)
    for (size_t i = 0; i < n; ++i) wanted.push_back({operands[i].dtype, {}});
  wanted.insert(wanted.end(), operands.begin() + static_cast<std::ptrdiff_t>(2 * n), operands.end());
  const Types results(wanted.begin(), wanted.begin() + static_cast<std::ptrdiff_t>(n));
  if (body.input_types() != wanted || body.result_types() != results)
    return fail(ErrorCode::kInfer, "body is {} -> {}, wanted {} -> {} (reduce_c6)", to_string(body.input_types()),
                to_string(body.result_types()), to_string(wanted), to_string(results));
  return {};
}

Result<Types> infer(const InferArgs& args) {
  const auto& operands = args.operands;
  const int64_t count = attr<int64_t>(args.attrs, 0);
  const auto& dims = attr<Ints>(args.attrs, 1);
  if (count < 1 || operands.size() / 2 < index(count))
    return fail(ErrorCode::kInfer, "{} inputs with {} operands (reduce_c3)", count, operands.size());
  const size_t n = index(count);
  for (size_t i = 0; i < n; ++i) {
    if (operands[i].shape != operands[0].shape)
      return fail(ErrorCode::kInfer, "inputs {} and {} differ in shape (reduce_c1)", to_string(operands[0]),
                  to_string(operands[i]));
    if (!(operands[n + i] == Type{operands[i].dtype, {}}))
      return fail(ErrorCode::kInfer, "initial value {} for input {} (reduce_c2)", to_string(operands[n + i]),
                  to_string(operands[i]));
  }
  const Shape& shape = operands[0].shape;
  HR_TRY_STATUS(check_axes(dims, shape.size(), "dims", "reduce_c4", "reduce_c5"));
  HR_TRY_STATUS(check_body(*args.regions[0], operands, n));
  Shape kept;
  for (size_t d = 0; d < shape.size(); ++d)
    if (std::ranges::find(dims, static_cast<int64_t>(d)) == dims.end()) kept.push_back(shape[d]);
  Types out;
  for (size_t i = 0; i < n; ++i) out.push_back({operands[i].dtype, kept});
  return out;
}

// The op of a body that is one commutative op on the accumulator and the element, else null.
const OpDef* single_op(const Node& node) {
  const Graph& body = *node.regions[0];
  if (attr<int64_t>(node.attrs, 0) != 1 || body.nodes().size() != body.inputs() + 1) return nullptr;
  const ValueId last{static_cast<uint32_t>(body.inputs()), 0};
  const Node& only = body.nodes().back();
  if (body.results()[0] != last || only.operands.size() != 2) return nullptr;
  const auto [a, b] = std::minmax(only.operands[0].node, only.operands[1].node);
  if (a != 0 || b != 1) return nullptr;
  for (const OpDef* op : {&kAdd, &kMaximum, &kMinimum, &kMultiply, &kAnd, &kOr})
    if (only.op == op) return op;
  return nullptr;
}

// Strides over the input's index space that lead to the result's elements: 0 along reduced dims.
Ints result_strides(const Ints& sizes, const Ints& dims) {
  Ints out(sizes.size(), 0);
  int64_t stride = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    if (std::ranges::find(dims, static_cast<int64_t>(d)) != dims.end()) continue;
    out[d] = stride;
    stride *= sizes[d];
  }
  return out;
}

template <class T, class Combine>
void reduce_runs(Strided<2>& plan, std::span<T> out, std::span<const T> in, Combine combine) {
  plan.rows([&](const auto& offsets, int64_t count, const auto& steps) {
    T* to = out.data() + offsets[0];
    const T* from = in.data() + offsets[1];
    if (steps[0] != 0) {
      for (int64_t e = 0; e < count; ++e) to[e * steps[0]] = combine(to[e * steps[0]], from[e * steps[1]]);
      return;
    }
    T sum = *to;
    for (int64_t e = 0; e < count; ++e) sum = combine(sum, from[e * steps[1]]);
    *to = sum;
  });
}

// Rounds or wraps after every step, as the body would.
template <class Op, class F>
void reduce_directly(Strided<2>& plan, HostTensor<F>& out, const HostTensor<F>& in) {
  const DType dtype = out.dtype();
  if (!is_float(dtype)) {
    reduce_runs(plan, out.mutable_ints(), in.ints(),
                [dtype](int64_t a, int64_t b) { return wrap_to(dtype, Op::integer(dtype, a, b)); });
  } else if constexpr (Op::kKinds.floating) {
    if (info(dtype).bits == 16) {
      reduce_runs(plan, out.mutable_floats(), in.floats(),
                  [dtype](F a, F b) { return round_to(dtype, Op::real(a, b)); });
    } else {
      reduce_runs(plan, out.mutable_floats(), in.floats(), [](F a, F b) { return Op::real(a, b); });
    }
  }
}

template <class F>
void reduce_single(const OpDef& op, Strided<2>& plan, HostTensor<F>& out, const HostTensor<F>& in) {
  if (&op == &kAdd) reduce_directly<scalar::Add>(plan, out, in);
  if (&op == &kMaximum) reduce_directly<scalar::Maximum>(plan, out, in);
  if (&op == &kMinimum) reduce_directly<scalar::Minimum>(plan, out, in);
  if (&op == &kMultiply) reduce_directly<scalar::Multiply>(plan, out, in);
  if (&op == &kAnd) reduce_directly<scalar::And>(plan, out, in);
  if (&op == &kOr) reduce_directly<scalar::Or>(plan, out, in);
}

template <class F>
HostTensor<F> element(const HostTensor<F>& from, int64_t at) {
  HostTensor<F> out(from.dtype(), {});
  if (is_float(from.dtype())) out.mutable_floats()[0] = from.floats()[index(at)];
  if (!is_float(from.dtype())) out.mutable_ints()[0] = from.ints()[index(at)];
  return out;
}

template <class F>
void set_element(HostTensor<F>& to, int64_t at, const HostTensor<F>& value) {
  if (is_float(to.dtype())) to.mutable_floats()[index(at)] = value.floats()[0];
  if (!is_float(to.dtype())) to.mutable_ints()[index(at)] = value.ints()[0];
}

// Runs the body once per element.
template <class F>
Status reduce_by_body(EvalContext<F>& ctx, Strided<2>& plan, Tensors<F>& out) {
  const size_t n = out.size();
  const auto captures = ctx.operands.subspan(2 * n);
  Status status;
  plan.rows([&](const auto& offsets, int64_t count, const auto& steps) {
    for (int64_t e = 0; status && e < count; ++e) {
      Tensors<F> args;
      for (size_t i = 0; i < n; ++i) args.push_back(element(out[i], offsets[0] + e * steps[0]));
      for (size_t i = 0; i < n; ++i) args.push_back(element(ctx.operands[i], offsets[1] + e * steps[1]));
      args.insert(args.end(), captures.begin(), captures.end());
      auto values = ctx.run(*ctx.node.regions[0], std::move(args));
      if (!values) {
        status = fail(std::move(values).error());
        return;
      }
      for (size_t i = 0; i < n; ++i) set_element(out[i], offsets[0] + e * steps[0], (*values)[i]);
    }
  });
  return status;
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const size_t n = index(attr<int64_t>(ctx.node.attrs, 0));
  const HostTensor<F>& x = ctx.operands[0];
  Tensors<F> out;
  for (size_t i = 0; i < n; ++i) {
    out.push_back(fresh(ctx, i));
    Strided<2> fill(out[i].sizes(), {strides_of(out[i].sizes()), Ints(out[i].sizes().size(), 0)});
    copy(fill, out[i], 0, ctx.operands[n + i], 0);
  }
  Strided<2> plan(x.sizes(), {result_strides(x.sizes(), attr<Ints>(ctx.node.attrs, 1)), strides_of(x.sizes())});
  if (const OpDef* op = single_op(ctx.node)) {
    reduce_single(*op, plan, out[0], x);
  } else {
    HR_TRY_STATUS(reduce_by_body(ctx, plan, out));
  }
  return out;
}

void write(HloWriter& w) {
  const size_t n = index(attr<int64_t>(w.node().attrs, 0));
  const auto& dims = attr<Ints>(w.node().attrs, 1);
  if (const OpDef* op = single_op(w.node())) {
    w.result(fmt::format("stablehlo.reduce({} init: {}) applies stablehlo.{} across dimensions = {} : {}", w.operand(0),
                         w.operand(1), op->name, to_string(dims), function_type(w, 2)));
    return;
  }
  const std::string axes = dims.empty() ? "" : fmt::format(": {}", fmt::join(dims, ", "));
  const std::string operands = operand_list(w, 0, 2 * n);
  w.result(fmt::format("\"stablehlo.reduce\"({}) <{{dimensions = array<i64{}>}}> ({}) : {}", operands, axes,
                       w.region(0, 2 * n, 2 * n), function_type(w, 2 * n)));
}

}  // namespace

constinit const OpDef kReduce = checked({.name = "reduce",
                                         .level = OpLevel::kCore,
                                         .summary = "folds elements along dims with a body, from initial values",
                                         .spec = "stablehlo spec.md#reduce",
                                         .operands = -1,
                                         .attrs = kAttrs,
                                         .regions = 1,
                                         .infer = infer,
                                         .eval_f32 = eval<float>,
                                         .eval_f64 = eval<double>,
                                         .hlo = write});

}  // namespace headrace::ops
