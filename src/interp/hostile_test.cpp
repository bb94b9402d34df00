// Well-formed text whose attributes are extreme: evaluation gives the right value or an error, and never leaves its
// buffers or the range of its integers (the sanitizer build watches).
#include "interp/interpreter_testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using testing::ints;
using testing::module_of;

std::vector<int64_t> ints_of(const std::string& body, std::vector<HostTensor<float>> inputs) {
  auto out = testing::run<float>(module_of(body), std::move(inputs));
  if (!out) throw InternalError(out.error().text());
  return {out->at(0).ints().begin(), out->at(0).ints().end()};
}

TEST(HostileAttributes, PadOfOneElementWithHugeInterior) {
  EXPECT_THAT(ints_of(R"(
func public "f"(%0 "x": i32[1], %1 "v": i32[]) -> ("y": i32[2]) {
  %2 = pad(%0, %1) {low = [1], high = [0], interior = [9223372036854775807]} : i32[2]
  return %2
})",
                      {ints<float>({1}, {7}), ints<float>({}, {3})}),
              ElementsAre(3, 7));
}

TEST(HostileAttributes, SliceOfOneElementWithHugeStride) {
  EXPECT_THAT(ints_of(R"(
func public "f"(%0 "x": i32[3, 2]) -> ("y": i32[1, 2]) {
  %1 = slice(%0) {start = [1, 0], limit = [3, 2], stride = [9223372036854775807, 1]} : i32[1, 2]
  return %1
})",
                      {ints<float>({3, 2}, {1, 2, 3, 4, 5, 6})}),
              ElementsAre(3, 4));
}

TEST(HostileAttributes, TensorsWithoutElementsMayBeOfAnySize) {
  EXPECT_THAT(ints_of(R"(
func public "f"(%0 "x": i32[0, 2, 3]) -> ("y": i32[3, 2, 0]) {
  %1 = transpose(%0) {permutation = [2, 1, 0]} : i32[3, 2, 0]
  return %1
})",
                      {ints<float>({0, 2, 3}, {})}),
              ElementsAre());
}

}  // namespace
}  // namespace headrace
