#include "formats/irpa.h"

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;

std::vector<OutTensor> tensors() {
  return {{.name = "token_embd.weight", .dtype = DType::kF32, .shape = {4, 8}, .length_bytes = 128},
          {.name = "b", .dtype = DType::kI8, .shape = {3}, .length_bytes = 3},
          {.name = "none", .dtype = DType::kF32, .shape = {0}, .length_bytes = 0},
          {.name = "last", .dtype = DType::kF64, .shape = {}, .length_bytes = 8}};
}

// H13
TEST(Irpa, ReadsBackAndEveryTensorIsAligned) {
  const auto wanted = tensors();
  ASSERT_OK_AND_ASSIGN(const ArchiveLayout layout, layout_irpa(wanted));
  ASSERT_OK_AND_ASSIGN(const uint64_t header, irpa_header_bytes(layout.header_bytes, layout.total_bytes));
  EXPECT_LE(header, layout.header_bytes.size());
  ASSERT_OK_AND_ASSIGN(const auto entries, read_irpa(layout.header_bytes, layout.total_bytes));
  ASSERT_EQ(entries.size(), wanted.size());
  uint64_t end = layout.header_bytes.size();
  for (size_t i = 0; i < entries.size(); ++i) {
    EXPECT_EQ(entries[i].name, wanted[i].name);
    EXPECT_EQ(entries[i].offset_bytes, layout.offsets_bytes[i]);
    EXPECT_EQ(entries[i].length_bytes, wanted[i].length_bytes);
    EXPECT_EQ(entries[i].offset_bytes % kIrpaAlignment, 0U);
    EXPECT_GE(entries[i].offset_bytes, end);
    end = entries[i].offset_bytes + entries[i].length_bytes;
  }
  EXPECT_GE(layout.total_bytes, end);
}

TEST(Irpa, NoTensorsIsAnArchiveToo) {
  ASSERT_OK_AND_ASSIGN(const ArchiveLayout layout, layout_irpa({}));
  ASSERT_OK_AND_ASSIGN(const auto entries, read_irpa(layout.header_bytes, layout.total_bytes));
  EXPECT_TRUE(entries.empty());
}

TEST(Irpa, NamesMustTellTensorsApart) {
  auto twice = tensors();
  twice[1].name = "last";
  EXPECT_THAT(layout_irpa(twice), IsError(ErrorCode::kIrpa, HasSubstr("'last' is empty or repeated")));
  twice[1].name = "";
  EXPECT_THAT(layout_irpa(twice), IsError(ErrorCode::kIrpa, HasSubstr("'' is empty or repeated")));
}

TEST(Irpa, SizesThatOverflowAreRefused) {
  auto large = tensors();
  large[0].length_bytes = large[3].length_bytes = UINT64_MAX / 2;
  EXPECT_THAT(layout_irpa(large), IsError(ErrorCode::kIrpa, HasSubstr("size overflows")));
}

// No byte of the header can be changed into something that reads outside the file.
TEST(Irpa, ADamagedHeaderIsRefusedOrStaysInTheFile) {
  ASSERT_OK_AND_ASSIGN(const ArchiveLayout layout, layout_irpa(tensors()));
  for (size_t at = 0; at < layout.header_bytes.size(); ++at)
    for (const int value : {0x00, 0x01, 0x7F, 0x80, 0xFF}) {
      std::string bytes = layout.header_bytes;
      bytes[at] = static_cast<char>(value);
      const auto entries = read_irpa(bytes, layout.total_bytes);
      if (!entries) continue;
      for (const IrpaEntry& entry : *entries) {
        EXPECT_LE(entry.offset_bytes, layout.total_bytes);
        EXPECT_LE(entry.length_bytes, layout.total_bytes - entry.offset_bytes);
      }
    }
  for (size_t length = 0; length + 1 < layout.header_bytes.size(); length += 7)
    EXPECT_THAT(read_irpa(std::string_view(layout.header_bytes).substr(0, length), length),
                IsError(ErrorCode::kIrpa, HasSubstr("irpa:")));
}

}  // namespace
}  // namespace headrace
