// IQ3_S: 256 elements in 110 bytes.
//   | f16 d | 64 bytes qs | 8 bytes qh | 32 bytes signs | 4 bytes scales |
// qs[r] and bit r % 8 of qh[r / 8] are a row of kIq3SGrid, the elements 4r .. 4r + 3; bit j % 8 of signs[j / 8] is the
// sign of element j. Group g of 32 elements has a scale: nibble g of scales, the low one first.
// value = (d * (1 + 2 * scale)) * row[j] * sign, each product rounded.
#include "base/half.h"
#include "quant/codebooks.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint8_t qs[64];
  uint8_t qh[8];
  uint8_t signs[32];
  uint8_t scales[4];
};
static_assert(sizeof(Block) == 110);

}  // namespace

void iq3_s_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 256;
    for (size_t r = 0; r < 64; ++r) {
      const int nibble = (block.scales[r / 16] >> (r / 8 % 2 * 4)) & 15;
      const float scale = d * static_cast<float>(1 + 2 * nibble);
      const unsigned high = (block.qh[r / 8] >> (r % 8)) & 1U;
      const auto& row = kIq3SGrid[block.qs[r] | high << 8];
      const unsigned signs = block.signs[r / 2] >> (r % 2 * 4);
      for (size_t j = 0; j < 4; ++j) y[r * 4 + j] = scale * static_cast<float>(row[j]) * sign_of(signs, j);
    }
  }
}

}  // namespace headrace::quant
