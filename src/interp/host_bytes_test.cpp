#include "interp/host_bytes.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "interp/interpreter_testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using testing::floats;
using testing::ints;

template <class T>
std::vector<std::byte> bytes_of(const std::vector<T>& values) {
  std::vector<std::byte> out(values.size() * sizeof(T));
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

template <class F>
class HostBytesTest : public ::testing::Test {};
using Floats = ::testing::Types<float, double>;
TYPED_TEST_SUITE(HostBytesTest, Floats);

TYPED_TEST(HostBytesTest, ReadsEveryDType) {
  const auto ints_of = [](DType dtype, const std::vector<std::byte>& bytes, int64_t count) {
    const auto tensor = from_bytes<TypeParam>(dtype, {count}, bytes);
    return std::vector<int64_t>(tensor.ints().begin(), tensor.ints().end());
  };
  EXPECT_THAT(ints_of(DType::kI1, bytes_of<uint8_t>({0, 1, 2}), 3), ElementsAre(0, 1, 1));
  EXPECT_THAT(ints_of(DType::kI8, bytes_of<int8_t>({-128, 127}), 2), ElementsAre(-128, 127));
  EXPECT_THAT(ints_of(DType::kU8, bytes_of<uint8_t>({0, 255}), 2), ElementsAre(0, 255));
  EXPECT_THAT(ints_of(DType::kI16, bytes_of<int16_t>({-32768}), 1), ElementsAre(-32768));
  EXPECT_THAT(ints_of(DType::kU16, bytes_of<uint16_t>({65535}), 1), ElementsAre(65535));
  EXPECT_THAT(ints_of(DType::kI32, bytes_of<int32_t>({-7}), 1), ElementsAre(-7));
  EXPECT_THAT(ints_of(DType::kU32, bytes_of<uint32_t>({4294967295U}), 1), ElementsAre(4294967295));
  EXPECT_THAT(ints_of(DType::kI64, bytes_of<int64_t>({INT64_MIN}), 1), ElementsAre(INT64_MIN));
  const auto floats_of = [](DType dtype, const std::vector<std::byte>& bytes) {
    return from_bytes<TypeParam>(dtype, {1}, bytes).floats()[0];
  };
  EXPECT_EQ(floats_of(DType::kF16, bytes_of<uint16_t>({0x3C01})), static_cast<TypeParam>(1 + 0x1p-10));
  EXPECT_EQ(floats_of(DType::kBF16, bytes_of<uint16_t>({0x3F81})), static_cast<TypeParam>(1 + 0x1p-7));
  EXPECT_EQ(floats_of(DType::kF32, bytes_of<float>({0.1F})), static_cast<TypeParam>(0.1F));
  EXPECT_EQ(floats_of(DType::kF64, bytes_of<double>({0.1})), static_cast<TypeParam>(0.1));
  EXPECT_TRUE(std::isnan(floats_of(DType::kF16, bytes_of<uint16_t>({0x7E00}))));
}

TYPED_TEST(HostBytesTest, WritesWhatItReads) {
  for (size_t i = 0; i < std::size(kDTypeTable); ++i) {
    const auto dtype = static_cast<DType>(i);
    const auto tensor = is_float(dtype) ? floats<TypeParam>({2, 2}, {0, -1, 0.5, 3}, dtype)
                                        : ints<TypeParam>({2, 2}, {0, 1, 1, 0}, dtype);
    const auto bytes = to_bytes(tensor, dtype);
    const auto back = from_bytes<TypeParam>(dtype, {2, 2}, bytes);
    EXPECT_EQ(to_bytes(back, dtype), bytes) << name(dtype);
    if (is_float(dtype)) {
      EXPECT_THAT(back.floats(), ElementsAre(0, -1, 0.5, 3)) << name(dtype);
    }
  }
}

TEST(HostBytesRoundingTest, NarrowingFromF64RoundsOnce) {
  // Just above the tie between 1 and 1 + 2^-10; through f32 it would become the tie and round down.
  const auto tensor = floats<double>({1}, {1 + 0x1p-11 + 0x1p-40});
  EXPECT_EQ(to_bytes(tensor, DType::kF16), bytes_of<uint16_t>({0x3C01}));
}

TYPED_TEST(HostBytesTest, ViewsOnlyWhereNothingIsConverted) {
  auto owner = std::make_shared<std::vector<TypeParam>>(std::vector<TypeParam>{1, 2, 3});
  const auto bytes = std::as_bytes(std::span(*owner));
  const DType own = sizeof(TypeParam) == 4 ? DType::kF32 : DType::kF64;
  auto view = view_bytes<TypeParam>(own, {3}, bytes, owner);
  EXPECT_EQ(view.floats().data(), owner->data());
  EXPECT_EQ(owner.use_count(), 2);
  view = {};
  EXPECT_EQ(owner.use_count(), 1);

  const auto shifted = view_bytes<TypeParam>(own, {2}, bytes.subspan(1, 2 * sizeof(TypeParam)), owner);
  EXPECT_EQ(owner.use_count(), 1);  // misaligned: copied
  EXPECT_EQ(shifted.elements(), 2);
  const auto half = view_bytes<TypeParam>(DType::kBF16, {2}, bytes.first(4), owner);
  EXPECT_EQ(owner.use_count(), 1);
}

TYPED_TEST(HostBytesTest, NpyFilesRoundTrip) {
  const std::string path = ::testing::TempDir() + "host_bytes.npy";
  ASSERT_OK(save_npy(path, floats<TypeParam>({1, 2}, {0.1F, 2})));
  ASSERT_OK_AND_ASSIGN(const auto back, load_npy<TypeParam>(path));
  EXPECT_EQ(back.dtype(), sizeof(TypeParam) == 4 ? DType::kF32 : DType::kF64);
  EXPECT_THAT(back.sizes(), ElementsAre(1, 2));
  EXPECT_EQ(back.floats()[0], static_cast<TypeParam>(0.1F));
  ASSERT_OK(save_npy(path, ints<TypeParam>({2}, {-1, 5}, DType::kI32)));
  ASSERT_OK_AND_ASSIGN(const auto numbers, load_npy<TypeParam>(path));
  EXPECT_THAT(numbers.ints(), ElementsAre(-1, 5));
  EXPECT_THAT(load_npy<TypeParam>(path + ".absent"), testing::IsError(ErrorCode::kFileOpen, ::testing::_));
}

}  // namespace
}  // namespace headrace
