#include "ops/contraction.h"

namespace headrace::ops {

namespace {

template <class F>
F multiply_add(F a, F b, F sum) {
  return sum + a * b;
}
int64_t multiply_add(int64_t a, int64_t b, int64_t sum) {
  return static_cast<int64_t>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace

template <class T>
void contract_loop(const Contraction<T>& c) {
  T* out = c.c;
  for (int64_t batch = 0; batch < c.batch; ++batch)
    for (int64_t i = 0; i < c.m; ++i)
      for (int64_t j = 0; j < c.n; ++j) {
        const T* a = c.a + batch * c.a_batch_stride + i * c.a_row_stride;
        const T* b = c.b + batch * c.b_batch_stride + j * c.b_row_stride;
        T sum{};
        for (int64_t k = 0; k < c.k; ++k) sum = multiply_add(a[k * c.a_col_stride], b[k * c.b_col_stride], sum);
        *out++ = sum;
      }
}

template void contract_loop(const Contraction<float>&);
template void contract_loop(const Contraction<double>&);
template void contract_loop(const Contraction<int64_t>&);

}  // namespace headrace::ops
