#include "interp/gemm.h"

#include <blis.h>
#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <array>
#include <utility>

#include "ops/contraction.h"

namespace headrace {

namespace {

// Rows of B are taken in tiles of about this many multiplications, each on one thread: long enough that handing it out
// costs nothing, short enough to keep all threads busy to the end. Tiles depend on the shape alone, so that results do
// not depend on the number of threads. The library's own threads are not used: they wait for each other by spinning,
// which on a busy machine costs more than they gain.
constexpr int64_t kTileWork = 1 << 20;
constexpr int64_t kTileRows = 64;  // a multiple of what the library's kernels take at once

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

// The library's C interface takes what it only reads as non-const.
template <class F>
F* unlocked(const F* data) {
  return const_cast<F*>(data);  // NOLINT(cppcoreguidelines-pro-type-const-cast)
}

void multiply(const Matrix& a, const float* a_data, const Matrix& b, const float* b_data, float* c,
              int64_t c_row_stride, rntm_t* runtime) {
  float one = 1;
  float zero = 0;
  bli_sgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, a.rows, b.cols, a.cols, &one, unlocked(a_data), a.row_stride,
               a.col_stride, unlocked(b_data), b.row_stride, b.col_stride, &zero, c, c_row_stride, 1, nullptr, runtime);
}

void multiply(const Matrix& a, const double* a_data, const Matrix& b, const double* b_data, double* c,
              int64_t c_row_stride, rntm_t* runtime) {
  double one = 1;
  double zero = 0;
  bli_dgemm_ex(BLIS_NO_TRANSPOSE, BLIS_NO_TRANSPOSE, a.rows, b.cols, a.cols, &one, unlocked(a_data), a.row_stride,
               a.col_stride, unlocked(b_data), b.row_stride, b.col_stride, &zero, c, c_row_stride, 1, nullptr, runtime);
}

int64_t divide_up(int64_t a, int64_t b) { return (a + b - 1) / b; }

// The part of one contraction that rows [first, first + rows) of B make.
template <class F>
void tile(const Contraction<F>& x, const Matrix& a, int64_t batch, int64_t first, int64_t rows) {
  Matrix b{x.k, rows, x.b_col_stride, x.b_row_stride};
  HR_CHECK(lay_out(b));
  rntm_t runtime;
  bli_rntm_init(&runtime);
  bli_rntm_set_num_threads(1, &runtime);
  multiply(a, x.a + batch * x.a_batch_stride, b, x.b + batch * x.b_batch_stride + first * x.b_row_stride,
           x.c + batch * x.m * x.n + first, x.n, &runtime);
}

template <class F>
void contract(const Contraction<F>& x, int threads) {
  if (x.batch <= 0 || x.m <= 0 || x.n <= 0) return;
  Matrix a{x.m, x.k, x.a_row_stride, x.a_col_stride};
  Matrix b{x.k, x.n, x.b_col_stride, x.b_row_stride};
  if (x.k <= 0 || !lay_out(a) || !lay_out(b)) return ops::contract_loop(x);

  const int64_t rows = std::min(x.n, divide_up(divide_up(kTileWork, x.m * x.k), kTileRows) * kTileRows);
  const int64_t tiles = divide_up(x.n, rows);
  const auto run = [&](int64_t i) {
    const int64_t first = i % tiles * rows;
    tile(x, a, i / tiles, first, std::min(rows, x.n - first));
  };
  if (threads == 1 || x.batch * tiles == 1) {
    for (int64_t i = 0; i < x.batch * tiles; ++i) run(i);
  } else {
    tbb::task_arena(threads).execute([&] { tbb::parallel_for(int64_t{0}, x.batch * tiles, run); });
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
  // More than the machine has are no use, and make oneTBB print a warning.
  const int most = std::clamp(tbb::info::default_concurrency(), 1, kMaxContractionThreads);
  const int used = threads <= 0 ? most : std::min(threads, most);
  return kContractions<F>[static_cast<size_t>(used) - 1];
}

template ContractFn<float> fast_contraction<float>(int);
template ContractFn<double> fast_contraction<double>(int);

}  // namespace headrace
