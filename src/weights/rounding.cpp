#include "weights/rounding.h"

#include "base/checked.h"
#include "base/half.h"

namespace headrace {

namespace {

uint64_t elements(const ManifestParameter& parameter) {
  return static_cast<uint64_t>(checked_product(parameter.shape).value_or(0));
}

double largest_finite(DType dtype) {
  return static_cast<double>(dtype == DType::kF16 ? f16_to_f32(0x7BFF) : bf16_to_f32(0x7F7F));
}

bool overflowed(const ManifestParameter& parameter) { return parameter.rounding && parameter.rounding->overflowed > 0; }

}  // namespace

Status check_overflow(std::span<const ManifestParameter> parameters, bool allowed, Warnings& warnings) {
  constexpr size_t kNamed = 8;
  size_t count = 0;
  DType dtype{};
  std::string names;
  for (const ManifestParameter& p : parameters) {
    if (!overflowed(p)) continue;
    dtype = p.dtype;
    if (allowed)
      warnings.add("parameter '{}': {} of {} values are beyond {} and became infinite", p.name, p.rounding->overflowed,
                   elements(p), name(p.dtype));
    if (++count <= kNamed)
      names +=
          fmt::format("{}'{}' ({} of {} values)", count == 1 ? "" : ", ", p.name, p.rounding->overflowed, elements(p));
  }
  if (count == 0 || allowed) return {};
  return fail(ErrorCode::kOverflow,
              "finite weights are beyond {}, which ends at {}, in {} parameters: {}{}; --allow-overflow writes "
              "infinities",
              name(dtype), largest_finite(dtype), count, names, count > kNamed ? ", ..." : "");
}

std::optional<RoundingSummary> summarise_rounding(std::span<const ManifestParameter> parameters) {
  std::optional<RoundingSummary> out;
  for (const ManifestParameter& p : parameters) {
    if (!p.rounding) continue;
    if (!out) out.emplace();
    out->values += elements(p);
    out->inexact += p.rounding->inexact;
    if (p.rounding->largest_error <= out->largest_error) continue;
    out->largest_error = p.rounding->largest_error;
    out->parameter = p.name;
  }
  return out;
}

}  // namespace headrace
