// Without operand_batching_dims, which the specification added late and no model here needs.
#include <algorithm>

#include "ops/def.h"
#include "ops/strided.h"

namespace headrace::ops {

namespace {

constexpr AttrSpec kAttrs[] = {{"offset_dims", AttrKind::kInts},
                               {"collapsed_slice_dims", AttrKind::kInts},
                               {"start_index_map", AttrKind::kInts},
                               {"index_vector_dim", AttrKind::kInt},
                               {"slice_sizes", AttrKind::kInts}};

struct Numbers {
  const Ints& offset;
  const Ints& collapsed;
  const Ints& index_map;
  int64_t vector_dim;
  const Ints& slice_sizes;
};

Numbers numbers_of(std::span<const Attr> attrs) {
  return {attr<Ints>(attrs, 0), attr<Ints>(attrs, 1), attr<Ints>(attrs, 2), attr<int64_t>(attrs, 3),
          attr<Ints>(attrs, 4)};
}

bool has(const Ints& values, int64_t value) { return std::ranges::find(values, value) != values.end(); }

Status check_numbers(const Numbers& n, const Type& x, const Type& indices) {
  const size_t rank = x.shape.size();
  const auto refuse = [&](std::string_view label) {
    return fail(ErrorCode::kInfer,
                "operand {}, indices {}, offset_dims {}, collapsed_slice_dims {}, start_index_map {}, index_vector_dim "
                "{}, slice_sizes {} ({})",
                to_string(x), to_string(indices), to_string(n.offset), to_string(n.collapsed), to_string(n.index_map),
                n.vector_dim, to_string(n.slice_sizes), label);
  };
  if (!kIntegers.has(indices.dtype)) return refuse("gather_i2");
  if (rank != n.offset.size() + n.collapsed.size()) return refuse("gather_c1");
  if (n.vector_dim < 0 || index(n.vector_dim) > indices.shape.size()) return refuse("gather_c2");
  const Dim vector_size = index(n.vector_dim) < indices.shape.size() ? indices.shape[index(n.vector_dim)] : Dim(1);
  if (vector_size != Dim(static_cast<int64_t>(n.index_map.size()))) return refuse("gather_c3");
  HR_TRY_STATUS(check_axes(n.collapsed, rank, "collapsed_slice_dims", "gather_c8", "gather_c6"));
  if (!std::ranges::is_sorted(n.collapsed)) return refuse("gather_c7");
  HR_TRY_STATUS(check_axes(n.index_map, rank, "start_index_map", "gather_c19", "gather_c18"));
  if (n.slice_sizes.size() != rank) return refuse("gather_c20");
  for (const int64_t d : n.collapsed)
    if (size_at(n.slice_sizes, d) != 1) return refuse("gather_c9");  // 0, which the spec allows too, selects nothing
  for (size_t d = 0; d < rank; ++d) {
    HR_TRY(const Dim rest, difference(x.shape[d], n.slice_sizes[d], "gather_c21"));
    if (n.slice_sizes[d] < 0 || !never_negative(rest)) return refuse("gather_c21");
  }
  return {};
}

Result<Types> infer(const InferArgs& args) {
  const Type& x = args.operands[0];
  const Type& indices = args.operands[1];
  const Numbers n = numbers_of(args.attrs);
  HR_TRY_STATUS(check_numbers(n, x, indices));
  Shape batch = indices.shape;
  if (index(n.vector_dim) < batch.size()) batch.erase(batch.begin() + n.vector_dim);
  const size_t rank = batch.size() + n.offset.size();
  HR_TRY_STATUS(check_axes(n.offset, rank, "offset_dims", "gather_c5", "gather_c4"));
  if (!std::ranges::is_sorted(n.offset))
    return fail(ErrorCode::kInfer, "offset_dims {} are not sorted (gather_c4)", to_string(n.offset));
  Type out{x.dtype, Shape(rank)};
  for (int64_t d = 0, from_batch = 0, from_slice = 0; index(d) < rank; ++d) {
    if (!has(n.offset, d)) {
      out.shape[index(d)] = batch[index(from_batch++)];
      continue;
    }
    while (has(n.collapsed, from_slice)) ++from_slice;
    out.shape[index(d)] = size_at(n.slice_sizes, from_slice++);
  }
  return Types{out};
}

// Where the slices come from and go to: one copy per index vector.
struct Slices {
  Slices(const Numbers& n, const Ints& x_sizes, const Ints& out_sizes) {
    const Ints x_strides = strides_of(x_sizes);
    const Ints out_strides = strides_of(out_sizes);
    for (int64_t d = 0; index(d) < x_sizes.size(); ++d) {
      if (has(n.collapsed, d)) continue;
      sizes.push_back(size_at(n.slice_sizes, d));
      from.push_back(size_at(x_strides, d));
    }
    for (int64_t d = 0; index(d) < out_sizes.size(); ++d) {
      if (has(n.offset, d)) {
        to.push_back(size_at(out_strides, d));
      } else {
        batch_sizes.push_back(size_at(out_sizes, d));
        batch_to.push_back(size_at(out_strides, d));
      }
    }
    for (const int64_t d : n.index_map) {
      limits.push_back(size_at(x_sizes, d) - size_at(n.slice_sizes, d));
      steps.push_back(size_at(x_strides, d));
    }
  }

  Ints sizes, from, to;        // of one slice
  Ints batch_sizes, batch_to;  // of the index vectors
  Ints limits, steps;          // per component of an index vector: greatest start, and operand stride
};

template <class F>
Result<Tensors<F>> eval(EvalContext<F>& ctx) {
  const HostTensor<F>& x = ctx.operands[0];
  const HostTensor<F>& indices = ctx.operands[1];
  const Numbers n = numbers_of(ctx.node.attrs);
  HostTensor<F> out = fresh(ctx);
  if (out.elements() == 0) return one(std::move(out));
  const Slices slices(n, x.sizes(), out.sizes());
  Ints index_strides = strides_of(indices.sizes());
  int64_t component_stride = 0;
  if (index(n.vector_dim) < index_strides.size()) {
    component_stride = size_at(index_strides, n.vector_dim);
    index_strides.erase(index_strides.begin() + n.vector_dim);
  }
  const auto starts = indices.ints();
  const bool wide = indices.dtype() == DType::kU64;
  Strided<2> slice(slices.sizes, {slices.to, slices.from});
  Strided<2> batch(slices.batch_sizes, {slices.batch_to, index_strides});
  batch.rows([&](const auto& offsets, int64_t count, const auto& steps) {
    for (int64_t e = 0; e < count; ++e) {
      int64_t source = 0;
      for (size_t c = 0; c < slices.limits.size(); ++c) {
        int64_t start = starts[index(offsets[1] + e * steps[1] + static_cast<int64_t>(c) * component_stride)];
        if (wide && start < 0) start = slices.limits[c];
        source += std::clamp<int64_t>(start, 0, slices.limits[c]) * slices.steps[c];
      }
      copy(slice, out, offsets[0] + e * steps[0], x, source);
    }
  });
  return one(std::move(out));
}

void write(HloWriter& w) {
  const Numbers n = numbers_of(w.node().attrs);
  std::string dims;
  if (!n.offset.empty()) dims += fmt::format("offset_dims = {}, ", to_string(n.offset));
  if (!n.collapsed.empty()) dims += fmt::format("collapsed_slice_dims = {}, ", to_string(n.collapsed));
  if (!n.index_map.empty()) dims += fmt::format("start_index_map = {}, ", to_string(n.index_map));
  const std::string sizes = n.slice_sizes.empty() ? "" : fmt::format(": {}", fmt::join(n.slice_sizes, ", "));
  w.result(
      fmt::format("\"stablehlo.gather\"({}) <{{dimension_numbers = #stablehlo.gather<{}index_vector_dim = {}>, "
                  "slice_sizes = array<i64{}>}}> : {}",
                  operand_list(w), dims, n.vector_dim, sizes, function_type(w)));
}

}  // namespace

constinit const OpDef kGather =
    checked({.name = "gather",
             .level = OpLevel::kCore,
             .summary = "slices of operand 0 at the index vectors in operand 1, clamped to fit",
             .spec = "stablehlo spec.md#gather",
             .operands = 2,
             .attrs = kAttrs,
             .infer = infer,
             .eval_f32 = eval<float>,
             .eval_f64 = eval<double>,
             .hlo = write});

}  // namespace headrace::ops
