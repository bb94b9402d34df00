// Contractions as the evaluators use them: through EvalContext::contract when the interpreter set one, else the obvious
// loop, which is the truth that tests compare the GEMM-backed one with.
#pragma once

#include "ops/eval.h"

namespace headrace::ops {

// Adds terms one after the other in T: for float the rounding error grows with k (about k * 2^-24 of the sum of
// magnitudes at worst). int64_t wraps. Instantiated for float, double and int64_t.
template <class T>
void contract_loop(const Contraction<T>& c);

template <class F>
void contract(const EvalContext<F>& ctx, const Contraction<F>& c) {
  if (ctx.contract) {
    ctx.contract(c);
  } else {
    contract_loop(c);
  }
}

}  // namespace headrace::ops
