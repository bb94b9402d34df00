// dynamic_slice and dynamic_update_slice: a window whose start is a run-time value, moved to lie within the operand.
#include <algorithm>

#include "ops/def.h"
#include "ops/strided.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kSliceAttrs[] = {{"sizes", AttrKind::kInts}};

Status check_starts(std::span<const Type> starts, const Type& x, std::string_view count_label,
                    std::string_view same_label, std::string_view kind_label) {
  if (starts.size() != x.shape.size())
    return fail(ErrorCode::kInfer, "{} start indices for operand {} ({})", starts.size(), to_string(x), count_label);
  for (const Type& start : starts) {
    if (!start.shape.empty() || !kIntegers.has(start.dtype))
      return fail(ErrorCode::kInfer, "start index {}, wanted an integer scalar ({})", to_string(start), kind_label);
    if (!(start == starts[0]))
      return fail(ErrorCode::kInfer, "start indices {} differ ({})", to_string(starts), same_label);
  }
  return {};
}

// A window dim that fits for every value of the symbols, taken as >= 0.
bool fits(const Dim& window, const Dim& whole) {
  try {
    return never_negative(window) && never_negative(whole - window);
  } catch (const UserError&) {
    return false;
  }
}

Result<Types> infer_slice(const InferArgs& args) {
  if (args.operands.empty()) return fail(ErrorCode::kInfer, "no operands (dynamic_slice_i1)");
  const Type& x = args.operands[0];
  const auto& sizes = attr<Ints>(args.attrs, 0);
  HR_TRY_STATUS(check_starts(args.operands.subspan(1), x, "dynamic_slice_c2", "dynamic_slice_c3", "dynamic_slice_i2"));
  if (sizes.size() != x.shape.size())
    return fail(ErrorCode::kInfer, "sizes {} for operand {} (dynamic_slice_c2)", to_string(sizes), to_string(x));
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!fits(sizes[d], x.shape[d]))
      return fail(ErrorCode::kInfer, "sizes {}, operand {}: dim {} does not fit (dynamic_slice_c4)", to_string(sizes),
                  to_string(x), d);
  return Types{{x.dtype, Shape(sizes.begin(), sizes.end())}};
}

Result<Types> infer_update(const InferArgs& args) {
  if (args.operands.size() < 2) return fail(ErrorCode::kInfer, "fewer than two operands (dynamic_update_slice_i1)");
  const Type& x = args.operands[0];
  const Type& update = args.operands[1];
  if (update.dtype != x.dtype)
    return fail(ErrorCode::kInfer, "update {} into {} (dynamic_update_slice_c2)", to_string(update), to_string(x));
  if (update.shape.size() != x.shape.size())
    return fail(ErrorCode::kInfer, "update {} into {} (dynamic_update_slice_c3)", to_string(update), to_string(x));
  HR_TRY_STATUS(check_starts(args.operands.subspan(2), x, "dynamic_update_slice_c4", "dynamic_update_slice_c5",
                             "dynamic_update_slice_i3"));
  for (size_t d = 0; d < x.shape.size(); ++d)
    if (!fits(update.shape[d], x.shape[d]))
      return fail(ErrorCode::kInfer, "update {} into {}: dim {} does not fit (dynamic_update_slice_c6)",
                  to_string(update), to_string(x), d);
  return Types{x};
}

// Element offset of the window's first element, each start clamped to [0, dim - window].
template <class F>
int64_t window_offset(std::span<const HostTensor<F>> starts, const Ints& sizes, const Ints& window) {
  const Ints strides = strides_of(sizes);
  int64_t offset = 0;
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t start = starts[d].ints()[0];
    // u64 beyond the signed range is past every end.
    if (starts[d].dtype() == DType::kU64 && start < 0) start = sizes[d];
    offset += std::clamp<int64_t>(start, 0, sizes[d] - window[d]) * strides[d];
  }
  return offset;
}

template <class F>
Result<Tensors<F>> eval_slice(EvalContext<F>& ctx) {
  const HostTensor<F>& x = ctx.operands[0];
  HostTensor<F> out = fresh(ctx);
  if (out.elements() == 0) return one(std::move(out));
  Strided<2> plan(out.sizes(), {strides_of(out.sizes()), strides_of(x.sizes())});
  copy(plan, out, 0, x, window_offset(ctx.operands.subspan(1), x.sizes(), out.sizes()));
  return one(std::move(out));
}

template <class F>
Result<Tensors<F>> eval_update(EvalContext<F>& ctx) {
  const HostTensor<F>& x = ctx.operands[0];
  const HostTensor<F>& update = ctx.operands[1];
  HostTensor<F> out = fresh(ctx);
  Strided<2> whole(out.sizes(), {strides_of(out.sizes()), strides_of(x.sizes())});
  copy(whole, out, 0, x, 0);
  if (update.elements() == 0) return one(std::move(out));
  Strided<2> plan(update.sizes(), {strides_of(out.sizes()), strides_of(update.sizes())});
  copy(plan, out, window_offset(ctx.operands.subspan(2), out.sizes(), update.sizes()), update, 0);
  return one(std::move(out));
}

void write_slice(HloWriter& w) {
  write_functional(w, fmt::format(", sizes = {}", to_string(attr<Ints>(w.node().attrs, 0))));
}

void write_update(HloWriter& w) {
  // IREE 3.13 compiles no such window.
  if (!is_static(w.operand_ir_type(1).shape)) return w.refuse("an update of symbolic dims has no form");
  write_functional(w, "");
}

}  // namespace

constinit const OpDef kDynamicSlice =
    checked({.name = "dynamic_slice",
             .level = OpLevel::kCore,
             .summary = "a window of the operand that starts at run-time indices, clamped to fit",
             .spec = "stablehlo spec.md#dynamic_slice",
             .operands = -1,
             .attrs = kSliceAttrs,
             .infer = infer_slice,
             .eval_f32 = eval_slice<float>,
             .eval_f64 = eval_slice<double>,
             .hlo = write_slice});

constinit const OpDef kDynamicUpdateSlice =
    checked({.name = "dynamic_update_slice",
             .level = OpLevel::kCore,
             .summary = "the operand with a window replaced, from run-time indices on, clamped to fit",
             .spec = "stablehlo spec.md#dynamic_update_slice",
             .operands = -1,
             .infer = infer_update,
             .eval_f32 = eval_update<float>,
             .eval_f64 = eval_update<double>,
             .hlo = write_update});

}  // namespace headrace::ops
