#include "tokenizer/byte_alphabet.h"

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::Optional;

TEST(ByteAlphabet, SpellsEveryByteAndBack) {
  std::string all;
  for (int byte = 0; byte < 256; ++byte) all += static_cast<char>(byte);
  EXPECT_THAT(from_byte_alphabet(to_byte_alphabet(all)), Optional(all));
}

// encoder.py of GPT-2.
TEST(ByteAlphabet, IsGpt2s) {
  EXPECT_EQ(to_byte_alphabet(" a\n\x7F\xAD"), "\u0120a\u010a\u0121\u0143");
  EXPECT_EQ(from_byte_alphabet("a b"), std::nullopt);     // a space is written otherwise
  EXPECT_EQ(from_byte_alphabet("\u0144"), std::nullopt);  // behind the last one
  EXPECT_EQ(from_byte_alphabet("\xC4"), std::nullopt);    // not UTF-8
}

TEST(ByteAlphabet, NamesBytes) {
  for (int byte = 0; byte < 256; ++byte) {
    const auto value = static_cast<unsigned char>(byte);
    EXPECT_THAT(byte_of_piece(piece_of_byte(value)), Optional(value));
  }
  EXPECT_EQ(piece_of_byte(10), "<0x0A>");
  for (const std::string_view other : {"", "<0x0>", "<0x0G>", "<0xAAA>", "0x0A", "<0y0A>", "<0x-1>"})
    EXPECT_EQ(byte_of_piece(other), std::nullopt) << other;
}

}  // namespace
}  // namespace headrace
