#include "base/shape.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <limits>

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Dim seq() { return Dim::symbol("seq"); }
Dim past() { return Dim::symbol("past"); }

Dim any_dim() {
  Dim dim = *rc::gen::inRange<int64_t>(-9, 10);
  for (const char* symbol : {"a", "past", "seq_2", "_x"})
    dim = dim + Dim::symbol(symbol) * *rc::gen::inRange<int64_t>(-3, 4);
  return dim;
}

TEST(Dim, EqualExpressionsAreEqual) {
  EXPECT_EQ(seq() + past(), past() + seq());
  EXPECT_EQ(seq() + seq(), seq() * 2);
  EXPECT_EQ(seq() - seq(), Dim(0));
  EXPECT_EQ(seq() * 0, Dim(0));
  EXPECT_EQ((seq() + 3) * 2 - 6, seq() * 2);
  EXPECT_NE(seq(), past());
  EXPECT_NE(seq(), seq() + 1);
  EXPECT_TRUE((seq() - seq() + 4).is_static());
  EXPECT_EQ((seq() - seq() + 4).value(), 4);
}

TEST(Dim, ValueOfASymbolicDimIsABug) { EXPECT_THROW((void)seq().value(), InternalError); }

TEST(Dim, OverflowIsAnErrorOfTheModel) {
  EXPECT_THROW((void)(Dim(kMax) + 1), UserError);
  EXPECT_THROW((void)(seq() * kMax * 2), UserError);
}

TEST(Dim, Prints) {
  EXPECT_EQ(to_string(Dim(64)), "64");
  EXPECT_EQ(to_string(Dim(-1)), "-1");
  EXPECT_EQ(to_string(Dim(kMin)), "-9223372036854775808");
  EXPECT_EQ(to_string(seq() + past()), "past + seq");
  EXPECT_EQ(to_string(seq() * 2 - 1), "2*seq - 1");
  EXPECT_EQ(to_string(past() - seq() * 2 + 7), "past - 2*seq + 7");
  EXPECT_EQ(to_string(past() * -1), "-1*past");
  EXPECT_EQ(to_string(past() * -2 + seq()), "-2*past + seq");
  EXPECT_EQ(to_string(Shape{1, seq(), 64}), "[1, seq, 64]");
  EXPECT_EQ(to_string(Shape{}), "[]");
}

TEST(Dim, ParsesWhatItPrints) {
  EXPECT_TRUE(rc::check("parse(print(dim)) == dim", [] {
    const Dim dim = any_dim();
    const auto again = parse_dim(to_string(dim));
    RC_LOG() << to_string(dim);
    RC_ASSERT(again.has_value());
    RC_ASSERT(*again == dim);
  }));
  for (const int64_t value : {int64_t{0}, kMax, kMin}) EXPECT_EQ(parse_dim(to_string(Dim(value))).value(), Dim(value));
  for (const Dim& dim : {past() * kMin, past() + kMin, past() + seq() * kMin, past() * kMax - seq() * kMax + kMax})
    EXPECT_EQ(parse_dim(to_string(dim)).value(), dim) << to_string(dim);
}

TEST(Dim, ParseRefuses) {
  for (const char* bad : {"", " ", "?", "seq +", "+ seq", "seq + + 1", "2seq", "seq*2", "2**seq", "*seq", "seq past",
                          "1.5", "seq - ", "9223372036854775808", "a+b"})
    EXPECT_THAT(parse_dim(bad), IsError(ErrorCode::kHirParse, HasSubstr(std::string("dim '") + bad + "'"))) << bad;
  EXPECT_THAT(parse_dim("9223372036854775807 + 1"), IsError(ErrorCode::kHirParse, HasSubstr("overflows")));
  std::string many = "s0";
  for (int i = 1; i <= 100000; ++i) many += fmt::format(" + s{}", i);
  EXPECT_THAT(parse_dim(many), IsError(ErrorCode::kHirParse, HasSubstr("more than 64 symbols")));
  EXPECT_EQ(parse_dim(" 2 * seq ").value(), seq() * 2);  // blanks do not matter within a term
}

TEST(Shape, Elements) {
  EXPECT_EQ(elements(Shape{2, 3, 4}), 24);
  EXPECT_EQ(elements(Shape{}), 1);
  EXPECT_EQ(elements(Shape{0, kMax}), 0);
  EXPECT_EQ(elements(Shape{2, seq()}), std::nullopt);
  EXPECT_EQ(elements(Shape{kMax, 2}), std::nullopt);
  EXPECT_TRUE(is_static(Shape{1, 2}));
  EXPECT_FALSE(is_static(Shape{1, seq()}));
}

TEST(Shape, Substitute) {
  const Shape shape = {1, past() + seq() * 2 + 1, past()};
  EXPECT_EQ(substitute(shape, {{"seq", 4}}), (Shape{1, past() + 9, past()}));
  EXPECT_EQ(substitute(shape, {{"seq", 4}, {"past", 0}}), (Shape{1, 9, 0}));
  EXPECT_EQ(substitute(shape, {{"other", 4}}), shape);
  EXPECT_EQ(static_sizes(substitute(shape, {{"seq", 1}, {"past", 2}})), (std::vector<int64_t>{1, 5, 2}));
}

TEST(Shape, SameElements) {
  EXPECT_TRUE(same_elements(Shape{2, 3, 4}, Shape{24}));
  EXPECT_TRUE(same_elements(Shape{}, Shape{1, 1}));
  EXPECT_FALSE(same_elements(Shape{2, 3}, Shape{7}));
  EXPECT_TRUE(same_elements(Shape{1, seq(), 64}, Shape{seq(), 4, 16}));
  EXPECT_TRUE(same_elements(Shape{seq() * 2, 3}, Shape{6, seq()}));
  EXPECT_TRUE(same_elements(Shape{seq() * 2 + 4, 3}, Shape{6, seq() + 2}));
  EXPECT_TRUE(same_elements(Shape{seq(), past()}, Shape{past(), seq()}));
  EXPECT_FALSE(same_elements(Shape{seq(), 2}, Shape{past(), 2}));
  EXPECT_FALSE(same_elements(Shape{seq()}, Shape{seq() + 1}));
  EXPECT_FALSE(same_elements(Shape{seq(), seq()}, Shape{seq()}));
  EXPECT_TRUE(same_elements(Shape{0, seq()}, Shape{past(), 0}));
  EXPECT_FALSE(same_elements(Shape{kMin, 2}, Shape{2, kMin})) << "nothing has a negative size";
  EXPECT_FALSE(same_elements(Shape{seq() * kMin + 2}, Shape{1}));
  EXPECT_FALSE(same_elements(Shape{kMax, seq(), 2}, Shape{kMax, seq(), 2})) << "a size beyond 2^63 is never equal";
}

// Where the forms are equal, the numbers are, for every value of the symbols.
TEST(Shape, SameElementsHoldsForEveryValue) {
  EXPECT_TRUE(rc::check("same_elements agrees with numbers", [] {
    const Shape a = {any_dim(), any_dim()};
    const int64_t factor = *rc::gen::inRange<int64_t>(1, 5);
    const Shape b = {a[1] * factor, a[0]};
    RC_ASSERT(same_elements(Shape{a[0] * factor, a[1]}, b));
    SymbolValues values;
    for (const char* symbol : {"a", "past", "seq_2", "_x"}) values[symbol] = *rc::gen::inRange<int64_t>(0, 50);
    RC_ASSERT(elements(substitute(b, values)) == elements(substitute(Shape{a[0], a[1] * factor}, values)));
  }));
}

}  // namespace
}  // namespace headrace
