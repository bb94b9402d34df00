// Contractions for the interpreter, through a GEMM library. What library it is stays inside gemm.cpp.
//
// Results agree with ops::contract_loop up to rounding: sums are taken in another order, so each element may differ by
// about k * epsilon * sum |a| |b|. Equal inputs give equal bits at any number of threads.
// Non-finite values spread as in the loop (0 * inf is NaN); nothing is skipped because it is zero.
#pragma once

#include "ops/eval.h"

namespace headrace {

inline constexpr int kMaxContractionThreads = 64;

// A contraction that uses up to `threads` threads (0: one for each hardware thread), never more than the machine has or
// kMaxContractionThreads; small ones stay on one. Safe to call from several threads at once. F is float or double.
template <class F>
[[nodiscard]] ContractFn<F> fast_contraction(int threads);

}  // namespace headrace
