// IQ4_XS: 256 elements in 136 bytes.
//   | f16 d | u16 scales_h | 4 bytes scales_l | 128 bytes qs |
// Group g of 32 elements is coded as in IQ4_NL by qs[16g .. 16g + 15] and has a scale of six bits: the low four are a
// nibble of scales_l[g / 2], the low one for even g; the upper two are bits 2g, 2g + 1 of scales_h.
// value = (d * (scale - 32)) * kIq4Values[nibble], each product rounded.
#include "base/half.h"
#include "quant/codebooks.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint16_t scales_h;
  uint8_t scales_l[4];
  uint8_t qs[128];
};
static_assert(sizeof(Block) == 136);

}  // namespace

void iq4_xs_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 256;
    for (size_t g = 0; g < 8; ++g) {
      const int low = (block.scales_l[g / 2] >> (g % 2 * 4)) & 15;
      const int high = (block.scales_h >> (g * 2)) & 3;
      const float scale = d * static_cast<float>((low | high << 4) - 32);
      for (size_t j = 0; j < 16; ++j) {
        const uint8_t q = block.qs[g * 16 + j];
        y[g * 32 + j] = scale * static_cast<float>(kIq4Values[q & 15]);
        y[g * 32 + j + 16] = scale * static_cast<float>(kIq4Values[q >> 4]);
      }
    }
  }
}

}  // namespace headrace::quant
