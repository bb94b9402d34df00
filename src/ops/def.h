// What a file that defines an op includes: the definition type, its compile-time check, and small helpers for infer,
// eval and hlo functions. docs/adding-an-op.md shows how they fit together.
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

#include "ops/eval.h"
#include "ops/hlo_writer.h"
#include "ops/ops.h"

namespace headrace::ops {

// What a row must give. The references have no default: an op that lacks inference or an evaluation does not compile.
// (Comparing function pointers with null instead is no constant expression for g++ under -fsanitize=undefined.)
struct OpRow {
  std::string_view name;
  OpLevel level{};
  std::string_view summary;
  std::string_view spec;
  int operands{};
  std::span<const AttrSpec> attrs = {};
  int regions{};
  std::remove_pointer_t<Infer>& infer;
  std::remove_pointer_t<Eval<float>>& eval_f32;
  std::remove_pointer_t<Eval<double>>& eval_f64;
  // Null for structured ops, and for `parameter`, whose text is the target's business. table_test.cpp checks this.
  WriteHlo hlo{};
};

// `constinit const OpDef kX = checked({...})`
constexpr OpDef checked(const OpRow& row) {
  if (row.name.empty() || row.summary.empty() || row.spec.empty()) throw std::logic_error("op without words");
  return {.name = row.name,
          .level = row.level,
          .summary = row.summary,
          .spec = row.spec,
          .operands = row.operands,
          .attrs = row.attrs,
          .regions = row.regions,
          .infer = &row.infer,
          .eval_f32 = &row.eval_f32,
          .eval_f64 = &row.eval_f64,
          .hlo = row.hlo};
}

using Types = std::vector<Type>;
template <class F>
using Tensors = std::vector<HostTensor<F>>;
using Ints = std::vector<int64_t>;

// Attribute i. Precondition: attributes are as OpDef::attrs lists them (GraphBuilder::add checks).
template <class T>
[[nodiscard]] const T& attr(std::span<const Attr> attrs, size_t i) {
  return std::get<T>(attrs[i]);
}

// A zero-filled tensor for result i.
template <class F>
[[nodiscard]] HostTensor<F> fresh(const EvalContext<F>& ctx, size_t i = 0) {
  return {ctx.result_types[i].dtype, static_sizes(ctx.result_types[i].shape)};
}

template <class F>
[[nodiscard]] Tensors<F> one(HostTensor<F> tensor) {
  Tensors<F> out;
  out.push_back(std::move(tensor));
  return out;
}

// ---- infer (infer.cpp). Every message ends with the label of the constraint it is about, as in `(slice_c3)`.

// Element types an operand may have.
struct Kinds {
  bool boolean{}, signed_int{}, unsigned_int{}, floating{};
  [[nodiscard]] constexpr bool has(DType dtype) const {
    const DTypeKind kind = info(dtype).kind;
    return (kind == DTypeKind::kBool && boolean) || (kind == DTypeKind::kInt && signed_int) ||
           (kind == DTypeKind::kUint && unsigned_int) || (kind == DTypeKind::kFloat && floating);
  }
};
inline constexpr Kinds kFloats{.floating = true};
inline constexpr Kinds kIntegers{.signed_int = true, .unsigned_int = true};
inline constexpr Kinds kNumbers{.signed_int = true, .unsigned_int = true, .floating = true};
inline constexpr Kinds kSignedNumbers{.signed_int = true, .floating = true};
inline constexpr Kinds kBits{.boolean = true, .signed_int = true, .unsigned_int = true};
inline constexpr Kinds kAnything{.boolean = true, .signed_int = true, .unsigned_int = true, .floating = true};

[[nodiscard]] std::string to_string(const Ints& values);  // `[0, 2]`
[[nodiscard]] std::string to_string(std::span<const Type> types);

// One operand type for all, of an allowed kind; it is the result's. Labels: <op>_i1 (kind), <op>_c1 (equal types).
[[nodiscard]] Result<Types> infer_elementwise(std::string_view op, Kinds kinds, std::span<const Type> operands);
[[nodiscard]] Status check_kind(const Type& type, Kinds kinds, std::string_view what, std::string_view label);
// Every axis within [0, rank) and none twice.
[[nodiscard]] Status check_axes(const Ints& axes, size_t rank, std::string_view what, std::string_view range_label,
                                std::string_view unique_label);
// No static dim is negative.
[[nodiscard]] Status check_shape(const Shape& shape, std::string_view label);
// Dim arithmetic on numbers that a text may have chosen.
[[nodiscard]] Result<Dim> sum(const Dim& a, const Dim& b, std::string_view label);
[[nodiscard]] Result<Dim> difference(const Dim& a, const Dim& b, std::string_view label);
// True when the dim is >= 0 for all symbols >= 0.
[[nodiscard]] bool never_negative(const Dim& dim);

// ---- hlo (hlo.cpp)

[[nodiscard]] std::string operand_list(const HloWriter& w, size_t first, size_t count);
[[nodiscard]] std::string operand_list(const HloWriter& w);
// `(tensor<..>, tensor<..>) -> tensor<..>`; several results in parentheses. `count` operands from the first on.
[[nodiscard]] std::string function_type(const HloWriter& w, size_t count);
[[nodiscard]] std::string function_type(const HloWriter& w);
// `stablehlo.<name> %a, %b : type` for ops whose operands and result have one type.
void write_same_type(HloWriter& w);
// `stablehlo.<name> %a, %b<middle> : (types) -> type`.
void write_functional(HloWriter& w, std::string_view middle);

// ---- odds and ends

[[nodiscard]] inline size_t index(int64_t value) { return static_cast<size_t>(value); }
[[nodiscard]] inline int64_t size_at(const Ints& sizes, int64_t axis) { return sizes[index(axis)]; }

}  // namespace headrace::ops
