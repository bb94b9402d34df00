// IQ2_XS: 256 elements in 74 bytes.
//   | f16 d | 32 x u16 qs | 8 bytes scales |
// The low nine bits of qs[r] are a row of kIq2XsGrid, the elements 8r .. 8r + 7; the upper seven are their signs
// (even_signs). Rows 2k and 2k + 1 share a scale: nibble k of scales, the low one first.
// value = (d * (0.5 + scale) * 0.25) * row[j] * sign, each product rounded.
#include "base/half.h"
#include "quant/codebooks.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint16_t qs[32];
  uint8_t scales[8];
};
static_assert(sizeof(Block) == 74);

}  // namespace

void iq2_xs_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 256;
    for (size_t r = 0; r < 32; ++r) {
      const int nibble = (block.scales[r / 4] >> (r / 2 % 2 * 4)) & 15;
      const float scale = d * (0.5F + static_cast<float>(nibble)) * 0.25F;
      const auto& row = kIq2XsGrid[block.qs[r] & 511U];
      const unsigned signs = even_signs(block.qs[r] >> 9U);
      for (size_t j = 0; j < 8; ++j) y[r * 8 + j] = scale * static_cast<float>(row[j]) * sign_of(signs, j);
    }
  }
}

}  // namespace headrace::quant
