// IQ3_XXS: 256 elements in 98 bytes.
//   | f16 d | 64 bytes qs | 8 x u32 rest |
// qs[r] is a row of kIq3XxsGrid, the elements 4r .. 4r + 3. Group g of 32 elements has rest[g]: bits 7l .. 7l + 6 are
// the signs of elements 8l .. 8l + 7 of the group (even_signs), bits 28-31 the scale.
// value = (d * (0.5 + scale) * 0.5) * row[j] * sign, each product rounded.
#include "base/half.h"
#include "quant/codebooks.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint8_t qs[64];
  uint8_t rest[8][4];
};
static_assert(sizeof(Block) == 98);

}  // namespace

void iq3_xxs_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 256;
    for (size_t g = 0; g < 8; ++g) {
      uint32_t rest = 0;
      std::memcpy(&rest, block.rest[g], sizeof(rest));
      const float scale = d * (0.5F + static_cast<float>(rest >> 28)) * 0.5F;
      for (size_t j = 0; j < 32; ++j) {
        const auto& row = kIq3XxsGrid[block.qs[g * 8 + j / 4]];
        const unsigned signs = even_signs(rest >> (j / 8 * 7) & 127U);
        y[g * 32 + j] = scale * static_cast<float>(row[j % 4]) * sign_of(signs, j % 8);
      }
    }
  }
}

}  // namespace headrace::quant
