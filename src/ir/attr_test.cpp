#include "ir/attr.h"

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstring>

namespace headrace {
namespace {

uint64_t first_bits(const Literal& literal) {
  uint64_t bits = 0;
  std::memcpy(&bits, literal.bytes->data(), literal.bytes->size());
  return bits;
}

TEST(Literal, FilledRoundsToItsType) {
  EXPECT_EQ(first_bits(Literal::filled(DType::kF32, {}, 0.1)), 0x3DCCCCCDU);
  EXPECT_EQ(first_bits(Literal::filled(DType::kBF16, {}, -INFINITY)), 0xFF80U);
  EXPECT_EQ(first_bits(Literal::filled(DType::kF16, {}, 1 + 0x1p-11 + 0x1p-40)), 0x3C01U) << "one rounding";
  EXPECT_EQ(first_bits(Literal::filled(DType::kI16, {}, -2)), 0xFFFEU);
  EXPECT_EQ(first_bits(Literal::filled(DType::kF64, {}, 0.1)), std::bit_cast<uint64_t>(0.1));
  EXPECT_EQ(Literal::filled(DType::kI1, {3}, 1).int_at(2), 1);
}

TEST(Literal, RefusesWhatDoesNotFit) {
  EXPECT_THROW(static_cast<void>(Literal::filled(DType::kI8, {}, 128)), InternalError);
  EXPECT_THROW(static_cast<void>(Literal::filled(DType::kU8, {}, -1)), InternalError);
  EXPECT_THROW(static_cast<void>(Literal::filled(DType::kI32, {}, 0.5)), InternalError);
  EXPECT_THROW(static_cast<void>(Literal::of_ints(DType::kI1, {}, {2})), InternalError);
  EXPECT_THROW(static_cast<void>(Literal::of_ints(DType::kI8, {2}, {1})), InternalError);
  EXPECT_THROW(static_cast<void>(Literal::filled(DType::kF32, {1}, 1).int_at(0)), InternalError);
}

TEST(Literal, ReadsBack) {
  const Literal ints = Literal::of_ints(DType::kI8, {3}, {-128, 0, 127});
  EXPECT_FALSE(ints.splat);
  EXPECT_EQ(ints.int_at(0), -128);
  EXPECT_EQ(ints.at(2), 127);
  EXPECT_EQ(Literal::of_ints(DType::kU64, {}, {-1}).at(0), 0x1p64);
  EXPECT_EQ(Literal::of_ints(DType::kU16, {2}, {65535, 1}).int_at(0), 65535);
  EXPECT_EQ(Literal::filled(DType::kBF16, {2}, 0.1).at(1), 0.10009765625);
}

TEST(Literal, EqualHoweverMade) {
  EXPECT_EQ(Literal::of_ints(DType::kI32, {3}, {7, 7, 7}), Literal::filled(DType::kI32, {3}, 7));
  EXPECT_EQ(Literal::of_ints(DType::kI32, {0}, {}), Literal::filled(DType::kI32, {0}, 7));
  EXPECT_FALSE(Literal::filled(DType::kI32, {3}, 7) == Literal::filled(DType::kI32, {4}, 7));
  EXPECT_FALSE(Literal::filled(DType::kI32, {3}, 7) == Literal::filled(DType::kU32, {3}, 7));
}

TEST(Attr, FloatsCompareByBits) {
  EXPECT_TRUE(same(Attr(std::nan("")), Attr(std::nan(""))));
  EXPECT_FALSE(same(Attr(0.0), Attr(-0.0)));
  EXPECT_NE(hash(Attr(0.0)), hash(Attr(-0.0)));
  EXPECT_FALSE(same(Attr(1.0), Attr(int64_t{1})));
}

TEST(Attr, SameAndHashAgree) {
  const Dim seq = Dim::symbol("seq");
  const std::vector<Attr> attrs = {int64_t{1},
                                   int64_t{2},
                                   1.5,
                                   "x",
                                   std::vector<int64_t>{1, 2},
                                   std::vector<int64_t>{2, 1},
                                   Shape{1, 2},
                                   Shape{seq, 2},
                                   Shape{seq + 1, 2},
                                   DType::kF32,
                                   Literal::filled(DType::kF32, {2}, 1),
                                   Literal::filled(DType::kF32, {2}, 2),
                                   std::vector<Type>{{DType::kF32, {seq}}},
                                   std::vector<Type>{}};
  for (size_t i = 0; i < attrs.size(); ++i)
    for (size_t j = 0; j < attrs.size(); ++j) {
      EXPECT_EQ(same(attrs[i], attrs[j]), i == j) << i << " " << j;
      EXPECT_EQ(hash(attrs[i]) == hash(attrs[j]), i == j) << i << " " << j;
    }
}

}  // namespace
}  // namespace headrace
