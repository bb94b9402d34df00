// IQ2_S: 256 elements in 82 bytes.
//   | f16 d | 32 bytes qs | 32 bytes signs | 8 bytes qh | 8 bytes scales |
// qs[r] and two bits of qh[r / 4], from the low end, are a row of kIq2SGrid, the elements 8r .. 8r + 7; bit j of
// signs[r] is the sign of element j. Rows 2k and 2k + 1 share a scale: nibble k of scales, the low one first.
// value = (d * (0.5 + scale) * 0.25) * row[j] * sign, each product rounded.
#include "base/half.h"
#include "quant/codebooks.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint8_t qs[32];
  uint8_t signs[32];
  uint8_t qh[8];
  uint8_t scales[8];
};
static_assert(sizeof(Block) == 82);

}  // namespace

void iq2_s_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 256;
    for (size_t r = 0; r < 32; ++r) {
      const int nibble = (block.scales[r / 4] >> (r / 2 % 2 * 4)) & 15;
      const float scale = d * (0.5F + static_cast<float>(nibble)) * 0.25F;
      const unsigned high = (block.qh[r / 4] >> (r % 4 * 2)) & 3U;
      const auto& row = kIq2SGrid[block.qs[r] | high << 8];
      for (size_t j = 0; j < 8; ++j) y[r * 8 + j] = scale * static_cast<float>(row[j]) * sign_of(block.signs[r], j);
    }
  }
}

}  // namespace headrace::quant
