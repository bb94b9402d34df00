// Test kit: decoding by one function, on each instruction set of this machine, compared by bits.
#pragma once

#include <hwy/targets.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "quant/block_type.h"
#include "quant/decode.h"

namespace headrace::testing {

inline std::vector<float> run(DecodeF32 decode, const BlockTypeInfo& row, std::span<const std::byte> in) {
  const size_t blocks = in.size() / static_cast<size_t>(row.block_bytes);
  std::vector<float> out(blocks * static_cast<size_t>(row.block_elements), -99.F);
  decode(in, out);
  return out;
}

// Index of the first element whose bits differ, or -1. Of NaNs only that both are NaN where `any_nan`.
inline ptrdiff_t first_difference(const std::vector<float>& a, const std::vector<float>& b, bool any_nan) {
  if (a.size() != b.size()) return std::numeric_limits<ptrdiff_t>::max();
  for (size_t i = 0; i < a.size(); ++i) {
    if (any_nan && std::isnan(a[i]) && std::isnan(b[i])) continue;
    if (std::bit_cast<uint32_t>(a[i]) != std::bit_cast<uint32_t>(b[i])) return static_cast<ptrdiff_t>(i);
  }
  return -1;
}

// Runs `body` once for every instruction set of this machine.
template <class Body>
void for_each_target(const Body& body) {
  const int64_t all = hwy::SupportedTargets();
  for (int64_t rest = all; rest != 0; rest &= rest - 1) {
    hwy::SetSupportedTargetsForTest(rest & -rest);
    hwy::GetChosenTarget().Update(hwy::SupportedTargets());
    body(std::string(hwy::TargetName(rest & -rest)));
  }
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

}  // namespace headrace::testing
