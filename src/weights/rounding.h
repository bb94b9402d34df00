// What rounding the weights to a narrow type cost, judged and in numbers. Works on the manifest's rows.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "weights/manifest.h"

namespace headrace {

// Finite values that became infinite would make every logit a NaN. Errors: kOverflow, one line that names the
// parameters with their counts (the first few of them), unless `allowed`: then a warning for each.
[[nodiscard]] Status check_overflow(std::span<const ManifestParameter> parameters, bool allowed, Warnings& warnings);

struct RoundingSummary {
  uint64_t values{};   // that went through a rounding step
  uint64_t inexact{};  // of these, changed by it
  double largest_error{};
  std::string parameter;  // that has the largest error, the first of them; "" when none is inexact
};

// Over all parameters that were rounded; nullopt when none was.
[[nodiscard]] std::optional<RoundingSummary> summarise_rounding(std::span<const ManifestParameter> parameters);

}  // namespace headrace
