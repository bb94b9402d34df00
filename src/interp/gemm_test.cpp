#include "interp/gemm.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <thread>
#include <vector>

#include "base/testing.h"
#include "ops/contraction.h"

namespace headrace {
namespace {

// A contraction with its storage.
template <class F>
struct Case {
  std::vector<F> a, b, c;
  Contraction<F> x;
};

struct Layout {
  int64_t batch{}, row{}, col{};  // strides
  int64_t extent{};               // elements the operand spans
};

// Lays sizes out with the axes nested in `order` (slowest first) and `gap` spare elements after each run.
Layout lay_out(std::array<int64_t, 3> sizes, std::array<int, 3> order, std::array<int64_t, 3> gap) {
  std::array<int64_t, 3> strides{};
  int64_t stride = 1 + gap[0];
  for (int i = 2; i >= 0; --i) {
    const auto axis = static_cast<size_t>(order[static_cast<size_t>(i)]);
    strides[axis] = stride;
    stride = stride * std::max<int64_t>(sizes[axis], 1) + gap[static_cast<size_t>(i)];
  }
  return {strides[0], strides[1], strides[2], stride + 8};
}

template <class F>
Case<F> make_case(int64_t batch, int64_t m, int64_t n, int64_t k, const Layout& a, const Layout& b, uint32_t seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> value(-1, 1);
  Case<F> out;
  out.a.resize(static_cast<size_t>(a.extent));
  out.b.resize(static_cast<size_t>(b.extent));
  // C holds NaN before: whatever is not written, or read, shows.
  out.c.assign(static_cast<size_t>(batch * m * n), std::numeric_limits<F>::quiet_NaN());
  for (F& v : out.a) v = static_cast<F>(value(random));
  for (F& v : out.b) v = static_cast<F>(value(random));
  out.x = {.batch = batch,
           .m = m,
           .n = n,
           .k = k,
           .a = out.a.data(),
           .a_batch_stride = a.batch,
           .a_row_stride = a.row,
           .a_col_stride = a.col,
           .b = out.b.data(),
           .b_batch_stride = b.batch,
           .b_row_stride = b.row,
           .b_col_stride = b.col,
           .c = out.c.data()};
  return out;
}

// Empty when every element is within k * epsilon * sum |a| |b| of the loop's, doubled since both sides round; otherwise
// what differs first.
template <class F>
std::string difference_to_loop(const Case<F>& test, ContractFn<F> contract) {
  const Contraction<F>& x = test.x;
  std::vector<F> truth(test.c.size());
  std::vector<F> magnitude(test.c.size());
  Contraction<F> loop = x;
  loop.c = truth.data();
  ops::contract_loop(loop);
  std::vector<F> a = test.a;
  std::vector<F> b = test.b;
  for (F& v : a) v = std::abs(v);
  for (F& v : b) v = std::abs(v);
  loop.a = a.data() + (x.a - test.a.data());
  loop.b = b.data() + (x.b - test.b.data());
  loop.c = magnitude.data();
  ops::contract_loop(loop);
  contract(x);
  for (size_t i = 0; i < truth.size(); ++i) {
    const F bound = 2 * static_cast<F>(x.k) * std::numeric_limits<F>::epsilon() * magnitude[i];
    if (!(std::abs(test.c[i] - truth[i]) <= bound))
      return fmt::format("element {}: {}, expected {} +- {}", i, test.c[i], truth[i], bound);
  }
  return {};
}

template <class F>
void property() {
  const auto axes = [] {
    return *rc::gen::element(std::array{0, 1, 2}, std::array{0, 2, 1}, std::array{1, 0, 2}, std::array{2, 1, 0},
                             std::array{1, 2, 0}, std::array{2, 0, 1});
  };
  const auto gaps = [] {
    return *rc::gen::arbitrary<bool>() ? std::array<int64_t, 3>{*rc::gen::inRange(0, 3), *rc::gen::inRange(0, 9), 3}
                                       : std::array<int64_t, 3>{};
  };
  const auto size = [](int top) -> int64_t {
    return *rc::gen::weightedOneOf<int>({{1, rc::gen::just(0)}, {3, rc::gen::just(1)}, {6, rc::gen::inRange(1, top)}});
  };
  const int64_t batch = size(4);
  const int64_t m = size(40);
  const int64_t n = size(70);
  const int64_t k = size(300);
  const Layout a = lay_out({batch, m, k}, axes(), gaps());
  const Layout b = lay_out({batch, n, k}, axes(), gaps());
  const auto test = make_case<F>(batch, m, n, k, a, b, *rc::gen::arbitrary<uint32_t>());
  RC_ASSERT(difference_to_loop(test, fast_contraction<F>(*rc::gen::element(1, 2, 0))) == "");
}

RC_GTEST_PROP(GemmProperty, F32AgreesWithTheLoop, ()) { property<float>(); }
RC_GTEST_PROP(GemmProperty, F64AgreesWithTheLoop, ()) { property<double>(); }

template <class F>
class GemmTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(GemmTest, Floats);

TYPED_TEST(GemmTest, DecodeShape) {
  const Layout a = lay_out({1, 1, 576}, {0, 1, 2}, {});
  const Layout b = lay_out({1, 4096, 576}, {0, 1, 2}, {});
  EXPECT_EQ(difference_to_loop(make_case<TypeParam>(1, 1, 4096, 576, a, b, 7), fast_contraction<TypeParam>(2)), "");
}

// Strides the library would abort on: repeated rows (0), overlapping windows (1, 1), backwards (-1).
TYPED_TEST(GemmTest, TakesEveryStride) {
  const Layout dense = lay_out({2, 3, 4}, {0, 1, 2}, {});
  for (const Layout& odd : {Layout{0, 0, 1, 64}, Layout{0, 1, 1, 64}, Layout{1, 2, 1, 64}, Layout{0, 0, 0, 64},
                            Layout{0, 3, 2, 64}, Layout{5, 1, 2, 64}}) {
    EXPECT_EQ(difference_to_loop(make_case<TypeParam>(2, 3, 3, 4, odd, dense, 1), fast_contraction<TypeParam>(1)), "");
    EXPECT_EQ(difference_to_loop(make_case<TypeParam>(2, 3, 3, 4, dense, odd, 2), fast_contraction<TypeParam>(1)), "");
  }
  auto backwards = make_case<TypeParam>(1, 3, 3, 4, dense, dense, 3);
  backwards.x.a = backwards.a.data() + 11;
  backwards.x.a_row_stride = -4;
  backwards.x.a_col_stride = -1;
  EXPECT_EQ(difference_to_loop(backwards, fast_contraction<TypeParam>(1)), "");
}

TYPED_TEST(GemmTest, NoProductsGiveZeros) {
  const Layout some = lay_out({1, 2, 2}, {0, 1, 2}, {});
  const auto test = make_case<TypeParam>(1, 2, 2, 0, some, some, 1);
  fast_contraction<TypeParam>(1)(test.x);
  EXPECT_THAT(test.c, ::testing::Each(TypeParam{0}));
}

TYPED_TEST(GemmTest, NonFiniteValuesSpread) {
  const Layout dense = lay_out({1, 2, 3}, {0, 1, 2}, {});
  auto test = make_case<TypeParam>(1, 2, 2, 3, dense, dense, 1);
  test.a.assign(test.a.size(), TypeParam{0});
  test.b[1] = std::numeric_limits<TypeParam>::infinity();
  fast_contraction<TypeParam>(1)(test.x);
  EXPECT_TRUE(std::isnan(test.c[0]));
  EXPECT_TRUE(std::isnan(test.c[2]));
  EXPECT_EQ(test.c[1], TypeParam{0});
}

TYPED_TEST(GemmTest, AnyNumberOfThreadsGivesTheSameBits) {
  for (const int64_t m : {1, 3, 40}) {
    const Layout a = lay_out({2, m, 200}, {0, 1, 2}, {});
    const Layout b = lay_out({2, 1000, 200}, {0, 1, 2}, {});
    const auto one = make_case<TypeParam>(2, m, 1000, 200, a, b, 11);
    EXPECT_EQ(difference_to_loop(one, fast_contraction<TypeParam>(1)), "");
    for (const int threads : {0, 2, 5}) {
      const auto more = make_case<TypeParam>(2, m, 1000, 200, a, b, 11);
      fast_contraction<TypeParam>(threads)(more.x);
      EXPECT_EQ(more.c, one.c) << threads;
    }
  }
}

TYPED_TEST(GemmTest, ThreadsDoNotDisturbEachOther) {
  const Layout dense = lay_out({1, 64, 96}, {0, 1, 2}, {});
  const auto truth = make_case<TypeParam>(1, 64, 64, 96, dense, dense, 5);
  fast_contraction<TypeParam>(2)(truth.x);
  std::vector<std::thread> workers;
  std::vector<Case<TypeParam>> cases;
  for (int i = 0; i < 4; ++i) cases.push_back(make_case<TypeParam>(1, 64, 64, 96, dense, dense, 5));
  for (auto& one : cases)
    workers.emplace_back([&one] {
      for (int i = 0; i < 20; ++i) fast_contraction<TypeParam>(2)(one.x);
    });
  for (auto& worker : workers) worker.join();
  for (const auto& one : cases) EXPECT_EQ(one.c, truth.c);
}

TEST(FastContractionTest, AnyNumberOfThreadsIsTaken) {
  for (const int threads : {-1, 0, 1, 2, kMaxContractionThreads, 100000})
    EXPECT_NE(fast_contraction<float>(threads), nullptr);
}

}  // namespace
}  // namespace headrace
