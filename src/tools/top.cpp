#include "tools/top.h"

#include <algorithm>
#include <cmath>

namespace headrace::tools {

template <class F>
std::vector<Ranked> top(std::span<const F> row, int64_t k) {
  std::vector<Ranked> ranked;
  ranked.reserve(row.size());
  for (size_t i = 0; i < row.size(); ++i)
    ranked.push_back({.id = static_cast<int64_t>(i), .logit = static_cast<double>(row[i])});
  const auto before = [](const Ranked& a, const Ranked& b) {
    if (std::isnan(a.logit) || std::isnan(b.logit)) return std::isnan(a.logit) && (!std::isnan(b.logit) || a.id < b.id);
    return a.logit != b.logit ? a.logit > b.logit : a.id < b.id;
  };
  const auto end = ranked.begin() + std::min(k, static_cast<int64_t>(ranked.size()));
  std::partial_sort(ranked.begin(), end, ranked.end(), before);
  ranked.erase(end, ranked.end());
  return ranked;
}

template std::vector<Ranked> top(std::span<const float> row, int64_t k);
template std::vector<Ranked> top(std::span<const double> row, int64_t k);

}  // namespace headrace::tools
