#include <algorithm>

#include "ops/def.h"

namespace headrace::ops {

namespace {

std::string describe(Kinds kinds) {
  std::vector<std::string_view> words;
  if (kinds.boolean) words.emplace_back("i1");
  if (kinds.signed_int) words.emplace_back("signed integers");
  if (kinds.unsigned_int) words.emplace_back("unsigned integers");
  if (kinds.floating) words.emplace_back("floats");
  return fmt::format("{}", fmt::join(words, " or "));
}

}  // namespace

std::string to_string(const Ints& values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

std::string to_string(std::span<const Type> types) {
  std::string out = "(";
  for (size_t i = 0; i < types.size(); ++i) out += (i == 0 ? "" : ", ") + to_string(types[i]);
  return out + ")";
}

Status check_kind(const Type& type, Kinds kinds, std::string_view what, std::string_view label) {
  if (kinds.has(type.dtype)) return {};
  return fail(ErrorCode::kInfer, "{} is {}, wanted {} ({})", what, to_string(type), describe(kinds), label);
}

Result<Types> infer_elementwise(std::string_view op, Kinds kinds, std::span<const Type> operands) {
  HR_TRY_STATUS(check_kind(operands[0], kinds, "operand 0", fmt::format("{}_i1", op)));
  for (const Type& other : operands.subspan(1))
    if (!(other == operands[0]))
      return fail(ErrorCode::kInfer, "operands {} and {} differ ({}_c1)", to_string(operands[0]), to_string(other), op);
  return Types{operands[0]};
}

Status check_axes(const Ints& axes, size_t rank, std::string_view what, std::string_view range_label,
                  std::string_view unique_label) {
  std::vector<bool> seen(rank);
  for (const int64_t axis : axes) {
    if (axis < 0 || index(axis) >= rank)
      return fail(ErrorCode::kInfer, "{} {}: {} is not within rank {} ({})", what, to_string(axes), axis, rank,
                  range_label);
    if (seen[index(axis)])
      return fail(ErrorCode::kInfer, "{} {}: {} twice ({})", what, to_string(axes), axis, unique_label);
    seen[index(axis)] = true;
  }
  return {};
}

Status check_shape(const Shape& shape, std::string_view label) {
  for (const Dim& dim : shape)
    if (dim.is_static() && dim.value() < 0)
      return fail(ErrorCode::kInfer, "shape {} has a negative dim ({})", to_string(shape), label);
  return {};
}

Result<Dim> sum(const Dim& a, const Dim& b, std::string_view label) {
  try {
    return a + b;
  } catch (const UserError& overflow) {
    return fail(ErrorCode::kInfer, "{} ({})", overflow.error.message, label);
  }
}

Result<Dim> difference(const Dim& a, const Dim& b, std::string_view label) {
  try {
    return a - b;
  } catch (const UserError& overflow) {
    return fail(ErrorCode::kInfer, "{} ({})", overflow.error.message, label);
  }
}

bool never_negative(const Dim& dim) {
  return dim.constant() >= 0 &&
         std::all_of(dim.terms().begin(), dim.terms().end(), [](const auto& term) { return term.second >= 0; });
}

}  // namespace headrace::ops
