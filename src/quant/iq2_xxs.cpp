// IQ2_XXS: 256 elements in 66 bytes.
//   | f16 d | 8 x (4 bytes indices, u32 rest) |
// Group g of 32 elements has the rows indices[0..3] of kIq2XxsGrid, eight elements each. In `rest`, bits 7l .. 7l + 6
// are the signs of row l (even_signs), bits 28-31 the scale.
// value = (d * (0.5 + scale) * 0.25) * row[j] * sign, each product rounded.
#include "base/half.h"
#include "quant/codebooks.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint8_t groups[8][8];
};
static_assert(sizeof(Block) == 66);

}  // namespace

void iq2_xxs_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 256;
    for (size_t g = 0; g < 8; ++g) {
      uint32_t rest = 0;
      std::memcpy(&rest, block.groups[g] + 4, sizeof(rest));
      const float scale = d * (0.5F + static_cast<float>(rest >> 28)) * 0.25F;
      for (size_t j = 0; j < 32; ++j) {
        const auto& row = kIq2XxsGrid[block.groups[g][j / 8]];
        const unsigned signs = even_signs(rest >> (j / 8 * 7) & 127U);
        y[g * 32 + j] = scale * static_cast<float>(row[j % 8]) * sign_of(signs, j % 8);
      }
    }
  }
}

}  // namespace headrace::quant
