#include "formats/safetensors_writer.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/testing.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;

OutTensor tensor(std::string name, DType dtype, std::vector<int64_t> shape) {
  uint64_t bytes = static_cast<uint64_t>(storage_bytes(dtype));
  for (const int64_t dim : shape) bytes *= static_cast<uint64_t>(dim);
  return {std::move(name), dtype, std::move(shape), bytes};
}

nlohmann::json parse_header(const ArchiveLayout& layout) {
  uint64_t length = 0;
  std::memcpy(&length, layout.header_bytes.data(), 8);
  EXPECT_EQ(length + 8, layout.header_bytes.size());
  return nlohmann::json::parse(layout.header_bytes.substr(8));
}

TEST(ArchiveLayout, HeaderSaysWhatWasAsked) {
  const OutTensor tensors[] = {tensor("norm", DType::kF32, {3}), tensor("w", DType::kBF16, {4, 16}),
                               tensor("scalar", DType::kF64, {}), tensor("none", DType::kI8, {0, 4}),
                               tensor("flag", DType::kI1, {5})};
  ASSERT_OK_AND_ASSIGN(const auto layout, layout_safetensors(tensors, {{"format", "pt"}, {"b", "\"q\"\n"}}));
  EXPECT_EQ(layout.header_bytes.size() % 64, 0U);
  const auto header = parse_header(layout);
  EXPECT_EQ(header["__metadata__"], (nlohmann::json{{"format", "pt"}, {"b", "\"q\"\n"}}));
  EXPECT_EQ(header["w"]["dtype"], "BF16");
  EXPECT_EQ(header["flag"]["dtype"], "BOOL");
  EXPECT_EQ(header["w"]["shape"], (std::vector<int64_t>{4, 16}));
  EXPECT_EQ(header["scalar"]["shape"], std::vector<int64_t>{});
  EXPECT_EQ(header.size(), 6U);
  for (size_t i = 0; i < std::size(tensors); ++i) {
    const auto& range = header[tensors[i].name]["data_offsets"];
    EXPECT_EQ(range[0].get<uint64_t>() + layout.header_bytes.size(), layout.offsets_bytes[i]);
    EXPECT_EQ(range[1].get<uint64_t>() - range[0].get<uint64_t>(), tensors[i].length_bytes);
  }
  EXPECT_EQ(layout.total_bytes, layout.header_bytes.size() + 128 + 12 + 8 + 0 + 5);
}

TEST(ArchiveLayout, NoTensorsNoMetadata) {
  ASSERT_OK_AND_ASSIGN(const auto layout, layout_safetensors({}, {}));
  EXPECT_EQ(parse_header(layout), nlohmann::json::object());
  EXPECT_EQ(layout.total_bytes, layout.header_bytes.size());
}

TEST(ArchiveLayout, NamesThatNeedEscapes_A11) {
  const OutTensor tensors[] = {tensor("a\"b", DType::kF32, {1}), tensor("a\\b", DType::kF32, {1}),
                               tensor("\xC3\xA4", DType::kF32, {1})};
  ASSERT_OK_AND_ASSIGN(const auto layout, layout_safetensors(tensors, {}));
  for (const OutTensor& t : tensors) EXPECT_TRUE(parse_header(layout).contains(t.name));
}

TEST(ArchiveLayout, Refusals) {
  const auto refuse = [](const std::vector<OutTensor>& tensors, const std::string& message) {
    EXPECT_THAT(layout_safetensors(tensors, {}), IsError(ErrorCode::kSafetensors, HasSubstr(message)));
  };
  refuse({tensor("x", DType::kF32, {1}), tensor("x", DType::kF32, {1})}, "two tensors are named 'x'");
  refuse({tensor("__metadata__", DType::kF32, {1})}, "'__metadata__' is reserved");
  refuse({tensor("a\xFF", DType::kF32, {1})}, "not UTF-8");
  refuse({{"x", DType::kF32, {2, 3}, 23}}, "tensor 'x': 23 bytes do not fit shape [2, 3] of f32");
  refuse({{"x", DType::kF32, {-1}, 4}}, "do not fit shape [-1]");
  refuse({{"x", DType::kF32, {int64_t{1} << 40, int64_t{1} << 40}, 0}}, "do not fit shape");
  const OutTensor huge = tensor("a", DType::kI8, {INT64_MAX});
  OutTensor more = huge;
  more.name = "b";
  OutTensor third = huge;
  third.name = "c";
  refuse({huge, more, third}, "overflows");
  EXPECT_THAT(layout_safetensors({}, {{"k", std::string(100'000'001, 'x')}}),
              IsError(ErrorCode::kSafetensors, HasSubstr("the format allows 100000000")));
}

// No holes, no overlaps, natural alignment up to 64, the same bytes again.
TEST(ArchiveLayout, RangesTileTheFile) {
  EXPECT_TRUE(rc::check("ranges tile the file", [] {
    const auto sizes = *rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 300));
    std::vector<OutTensor> tensors;
    for (size_t i = 0; i < sizes.size(); ++i) {
      const auto dtype = static_cast<DType>(*rc::gen::inRange<int>(0, static_cast<int>(std::size(kDTypeTable))));
      tensors.push_back(tensor("t" + std::to_string(i), dtype, {sizes[i]}));
    }
    const auto layout = layout_safetensors(tensors, {{"k", "v"}}).value();
    std::vector<size_t> order(tensors.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::sort(order, {}, [&](size_t i) {
      return std::pair(layout.offsets_bytes[i], layout.offsets_bytes[i] + tensors[i].length_bytes);
    });
    uint64_t end = layout.header_bytes.size();
    for (const size_t i : order) {
      RC_ASSERT(layout.offsets_bytes[i] == end);
      const uint64_t length = tensors[i].length_bytes;
      const uint64_t unit = length == 0 ? 1 : std::min<uint64_t>(64, uint64_t{1} << std::countr_zero(length));
      RC_ASSERT(end % unit == 0);
      end += length;
    }
    RC_ASSERT(end == layout.total_bytes);
    RC_ASSERT(layout_safetensors(tensors, {{"k", "v"}})->header_bytes == layout.header_bytes);
  }));
}

TEST(ArchiveLayout, ManyTensorsInLinearTime) {
  std::vector<OutTensor> tensors;
  for (int i = 0; i < 100'000; ++i) tensors.push_back(tensor("t" + std::to_string(i), DType::kI8, {1}));
  EXPECT_OK(layout_safetensors(tensors, {}));
}

}  // namespace
}  // namespace headrace::testing
