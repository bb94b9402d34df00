// The likeliest of a row of logits.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace headrace::tools {

struct Ranked {
  int64_t id{};
  double logit{};
};

// The `k` largest values and where they are, largest first, the lower index first among equals; NaN counts as larger
// than anything, so that it shows. Fewer when the row is shorter.
template <class F>
[[nodiscard]] std::vector<Ranked> top(std::span<const F> row, int64_t k);

}  // namespace headrace::tools
