#include "interp/gemm.h"

#include <blis.h>

#include <algorithm>
#include <array>
#include <thread>
#include <utility>

#include "ops/contraction.h"

namespace headrace {

namespace {

// Below this many multiplications a team of threads costs more than it saves.
constexpr int64_t kWorkPerThread = 1 << 16;

// One operand as BLIS sees it: rows x cols elements.
struct Matrix {
  int64_t rows{}, cols{};
  int64_t row_stride{}, col_stride{};
};

// BLIS aborts the process on strides it finds inconsistent, so only matrices that lie without overlap reach it. A
// dimension of one element has no stride that matters; it gets one that suits the other.
[[nodiscard]] bool lay_out(Matrix& m) {
  if (m.cols == 1) m.col_stride = 1;
  if (m.rows == 1) m.row_stride = m.cols * m.col_stride;
  if (m.cols == 1) m.col_stride = m.rows * m.row_stride;
  if (m.row_stride <= 0 || m.col_stride <= 0) return false;
  if (m.rows == 1 && m.cols == 1) return true;
  return m.row_stride < m.col_stride ? m.rows * m.row_stride <= m.col_stride : m.cols * m.col_stride <= m.row_stride;
}

void multiply(const Matrix& a, const float* a_data, const Matrix& b, const float* b_data, float* c, rntm_t* runtime) {
  float one = 1;
  float zero = 0;
  bli_sgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, a.rows, b.cols, a.cols, &one, const_cast<float*>(a_data),
               a.row_stride, a.col_stride, const_cast<float*>(b_data), b.row_stride, b.col_stride, &zero, c, b.cols, 1,
               nullptr, runtime);
}

void multiply(const Matrix& a, const double* a_data, const Matrix& b, const double* b_data, double* c,
              rntm_t* runtime) {
  double one = 1;
  double zero = 0;
  bli_dgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, a.rows, b.cols, a.cols, &one, const_cast<double*>(a_data),
               a.row_stride, a.col_stride, const_cast<double*>(b_data), b.row_stride, b.col_stride, &zero, c, b.cols, 1,
               nullptr, runtime);
}

template <class F>
void contract(const Contraction<F>& x, int threads) {
  if (x.batch <= 0 || x.m <= 0 || x.n <= 0) return;
  Matrix a{x.m, x.k, x.a_row_stride, x.a_col_stride};
  Matrix b{x.k, x.n, x.b_col_stride, x.b_row_stride};
  if (x.k <= 0 || !lay_out(a) || !lay_out(b)) return ops::contract_loop(x);

  const int64_t work = x.m * x.n * x.k / kWorkPerThread;
  rntm_t runtime;
  bli_rntm_init(&runtime);
  bli_rntm_set_num_threads(std::clamp<int64_t>(work, 1, threads), &runtime);
  for (int64_t i = 0; i < x.batch; ++i) {
    multiply(a, x.a + i * x.a_batch_stride, b, x.b + i * x.b_batch_stride, x.c + i * x.m * x.n, &runtime);
  }
}

// ContractFn carries no state, so there is a function for each number of threads.
template <class F, int kThreads>
void contract_on(const Contraction<F>& contraction) {
  contract(contraction, kThreads);
}

template <class F, int... kIndex>
constexpr std::array<ContractFn<F>, sizeof...(kIndex)> contractions(std::integer_sequence<int, kIndex...>) {
  return {contract_on<F, kIndex + 1>...};
}

template <class F>
constexpr auto kContractions = contractions<F>(std::make_integer_sequence<int, kMaxContractionThreads>());

}  // namespace

template <class F>
ContractFn<F> fast_contraction(int threads) {
  if (threads <= 0) threads = static_cast<int>(std::thread::hardware_concurrency());
  return kContractions<F>[static_cast<size_t>(std::clamp(threads, 1, kMaxContractionThreads)) - 1];
}

template ContractFn<float> fast_contraction<float>(int);
template ContractFn<double> fast_contraction<double>(int);

}  // namespace headrace
