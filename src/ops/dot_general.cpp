// The result type is explicit (`dtype`): narrow floats may be contracted into f32, narrow integers into i32. Products
// and sums are taken in F (floats) or int64_t (integers) and rounded or wrapped once, at the end.
#include <algorithm>
#include <optional>

#include "ops/contraction.h"
#include "ops/def.h"
#include "ops/strided.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"lhs_batch", AttrKind::kInts},
                               {"rhs_batch", AttrKind::kInts},
                               {"lhs_contract", AttrKind::kInts},
                               {"rhs_contract", AttrKind::kInts},
                               {"dtype", AttrKind::kDType}};

struct Dims {
  const Ints& lhs_batch;
  const Ints& rhs_batch;
  const Ints& lhs_contract;
  const Ints& rhs_contract;
};

Dims dims_of(std::span<const Attr> attrs) {
  return {attr<Ints>(attrs, 0), attr<Ints>(attrs, 1), attr<Ints>(attrs, 2), attr<Ints>(attrs, 3)};
}

// Dims of an operand that are neither batch nor contracted, in order.
Ints free_dims(size_t rank, const Ints& batch, const Ints& contract) {
  Ints out;
  for (int64_t d = 0; d < static_cast<int64_t>(rank); ++d)
    if (std::ranges::find(batch, d) == batch.end() && std::ranges::find(contract, d) == contract.end())
      out.push_back(d);
  return out;
}

Status check_side(const Type& type, const Ints& batch, const Ints& contract, std::string_view side,
                  std::string_view unique, std::string_view batch_range, std::string_view contract_range) {
  const size_t rank = type.shape.size();
  HR_TRY_STATUS(check_axes(batch, rank, fmt::format("{} {} batch dims", side, to_string(type)), batch_range, unique));
  HR_TRY_STATUS(
      check_axes(contract, rank, fmt::format("{} {} contracting dims", side, to_string(type)), contract_range, unique));
  for (const int64_t d : batch)
    if (std::ranges::find(contract, d) != contract.end())
      return fail(ErrorCode::kInfer, "{} {}: dim {} is both batch and contracted ({})", side, to_string(type), d,
                  unique);
  return {};
}

Status check_pairs(const Type& lhs, const Type& rhs, const Ints& l, const Ints& r, std::string_view kind,
                   std::string_view count_label, std::string_view equal_label) {
  if (l.size() != r.size())
    return fail(ErrorCode::kInfer, "{} dims {} of lhs {}, {} of rhs {} ({})", kind, to_string(l), to_string(lhs),
                to_string(r), to_string(rhs), count_label);
  for (size_t i = 0; i < l.size(); ++i) {
    const Dim& a = lhs.shape[index(l[i])];
    const Dim& b = rhs.shape[index(r[i])];
    if (!(a == b))
      return fail(ErrorCode::kInfer, "lhs {} {} dim {} is {}, rhs {} {} dim {} is {} ({})", to_string(lhs), kind, l[i],
                  to_string(a), to_string(rhs), kind, r[i], to_string(b), equal_label);
  }
  return {};
}

Result<Types> infer(const InferArgs& args) {
  const Type& lhs = args.operands[0];
  const Type& rhs = args.operands[1];
  const Dims dims = dims_of(args.attrs);
  const DType dtype = attr<DType>(args.attrs, 4);
  HR_TRY_STATUS(check_kind(lhs, kNumbers, "lhs", "dot_general_i1"));
  HR_TRY_STATUS(
      check_side(lhs, dims.lhs_batch, dims.lhs_contract, "lhs", "dot_general_c3", "dot_general_c5", "dot_general_c6"));
  HR_TRY_STATUS(
      check_side(rhs, dims.rhs_batch, dims.rhs_contract, "rhs", "dot_general_c4", "dot_general_c7", "dot_general_c8"));
  HR_TRY_STATUS(check_pairs(lhs, rhs, dims.lhs_batch, dims.rhs_batch, "batch", "dot_general_c1", "dot_general_c9"));
  HR_TRY_STATUS(
      check_pairs(lhs, rhs, dims.lhs_contract, dims.rhs_contract, "contracting", "dot_general_c2", "dot_general_c10"));
  if (lhs.dtype != rhs.dtype)
    return fail(ErrorCode::kInfer, "lhs is {}, rhs is {} (dot_general_c13)", to_string(lhs), to_string(rhs));
  if (info(dtype).kind != info(lhs.dtype).kind || info(dtype).bits < info(lhs.dtype).bits)
    return fail(ErrorCode::kInfer, "lhs is {}, the result {}: wanted the same kind, no narrower (dot_general_o1)",
                to_string(lhs), name(dtype));
  Type out{dtype, {}};
  for (const int64_t d : dims.lhs_batch) out.shape.push_back(lhs.shape[index(d)]);
  for (const int64_t d : free_dims(lhs.shape.size(), dims.lhs_batch, dims.lhs_contract))
    out.shape.push_back(lhs.shape[index(d)]);
  for (const int64_t d : free_dims(rhs.shape.size(), dims.rhs_batch, dims.rhs_contract))
    out.shape.push_back(rhs.shape[index(d)]);
  return Types{out};
}

// A group of dims seen as one.
struct Group {
  int64_t size = 1;
  std::optional<int64_t> stride = 0;  // none: the dims do not follow each other in memory
};

Group group(const Ints& sizes, const Ints& strides, const Ints& dims) {
  Group out;
  for (const int64_t d : dims) {
    const int64_t size = size_at(sizes, d);
    if (size == 1) continue;
    const int64_t stride = size_at(strides, d);
    if (out.size != 1 && out.stride != stride * size) {
      out.stride.reset();
    } else if (out.stride) {
      out.stride = stride;
    }
    out.size *= size;
  }
  return out;
}

// One operand as [batch, rows, contracted] with a stride each; copied when its dims cannot be seen that way.
template <class T>
struct Matrix {
  Matrix(std::span<const T> values, const Ints& sizes, const Ints& batch, const Ints& rows, const Ints& contract)
      : data(values.data()) {
    const Ints strides = strides_of(sizes);
    groups[0] = group(sizes, strides, batch);
    groups[1] = group(sizes, strides, rows);
    groups[2] = group(sizes, strides, contract);
    if (groups[0].stride && groups[1].stride && groups[2].stride) return;
    Ints order = batch;
    order.insert(order.end(), rows.begin(), rows.end());
    order.insert(order.end(), contract.begin(), contract.end());
    Ints ordered_sizes;
    Ints ordered_strides;
    for (const int64_t d : order) {
      ordered_sizes.push_back(size_at(sizes, d));
      ordered_strides.push_back(size_at(strides, d));
    }
    dense.resize(values.size());
    Strided<2> plan(ordered_sizes, {strides_of(ordered_sizes), ordered_strides});
    copy(plan, dense.data(), values.data());
    data = dense.data();
    groups[0].stride = groups[1].size * groups[2].size;
    groups[1].stride = groups[2].size;
    groups[2].stride = 1;
  }

  std::vector<T> dense;
  const T* data{};
  Group groups[3];
};

template <class T>
Contraction<T> contraction_of(const Matrix<T>& a, const Matrix<T>& b, std::span<T> out) {
  return {.batch = a.groups[0].size,
          .m = a.groups[1].size,
          .n = b.groups[1].size,
          .k = a.groups[2].size,
          .a = a.data,
          .a_batch_stride = *a.groups[0].stride,
          .a_row_stride = *a.groups[1].stride,
          .a_col_stride = *a.groups[2].stride,
          .b = b.data,
          .b_batch_stride = *b.groups[0].stride,
          .b_row_stride = *b.groups[1].stride,
          .b_col_stride = *b.groups[2].stride,
          .c = out.data()};
}

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& lhs = ctx.operands[0];
  const HostTensor<F>& rhs = ctx.operands[1];
  const Dims dims = dims_of(ctx.node.attrs);
  const Ints lhs_free = free_dims(lhs.sizes().size(), dims.lhs_batch, dims.lhs_contract);
  const Ints rhs_free = free_dims(rhs.sizes().size(), dims.rhs_batch, dims.rhs_contract);
  HostTensor<F> out = fresh(ctx);
  if (is_float(out.dtype())) {
    const Matrix<F> a(lhs.floats(), lhs.sizes(), dims.lhs_batch, lhs_free, dims.lhs_contract);
    const Matrix<F> b(rhs.floats(), rhs.sizes(), dims.rhs_batch, rhs_free, dims.rhs_contract);
    contract(ctx, contraction_of(a, b, out.mutable_floats()));
  } else {
    const Matrix<int64_t> a(lhs.ints(), lhs.sizes(), dims.lhs_batch, lhs_free, dims.lhs_contract);
    const Matrix<int64_t> b(rhs.ints(), rhs.sizes(), dims.rhs_batch, rhs_free, dims.rhs_contract);
    contract_loop(contraction_of(a, b, out.mutable_ints()));
  }
  out.settle();
  return one(std::move(out));
}

void write(HloWriter& w) {
  const Dims dims = dims_of(w.node().attrs);
  std::string middle;
  if (!dims.lhs_batch.empty())
    middle += fmt::format(", batching_dims = {} x {}", to_string(dims.lhs_batch), to_string(dims.rhs_batch));
  middle += fmt::format(", contracting_dims = {} x {}", to_string(dims.lhs_contract), to_string(dims.rhs_contract));
  write_functional(w, middle);
}

}  // namespace

constinit const OpDef kDotGeneral =
    checked({.name = "dot_general",
             .level = OpLevel::kCore,
             .summary = "sums products over contracted dims; result dims: batch, free of lhs, free of rhs",
             .spec = "stablehlo spec.md#dot_general",
             .operands = 2,
             .attrs = kAttrs,
             .infer = infer,
             .eval_f32 = eval<float>,
             .eval_f64 = eval<double>,
             .hlo = write});

}  // namespace headrace::ops
