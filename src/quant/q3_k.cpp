// Q3_K: 256 elements in 110 bytes.
//   | 32 bytes hmask | 64 bytes qs | 12 bytes scales | f16 d |
// The low two bits of the codes lie in qs as in Q2_K; the third bit of element l + 32k is bit k of hmask[l].
// Group g of 16 elements has a scale of six bits: its low four are a nibble of scales[g % 8], the low one for g < 8;
// its upper two are bits 2k, 2k + 1 of scales[8 + g % 4], k = g / 4.
// value = (d * (scale - 32)) * (code - 4), each product rounded.
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint8_t hmask[32];
  uint8_t qs[64];
  uint8_t scales[12];
  uint16_t d;
};
static_assert(sizeof(Block) == 110);

int group_scale(const Block& block, size_t g) {
  const int low = (block.scales[g % 8] >> (g / 8 * 4)) & 15;
  const int high = (block.scales[8 + g % 4] >> (g / 4 * 2)) & 3;
  return (low | high << 4) - 32;
}

}  // namespace

void q3_k_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 256;
    for (size_t g = 0; g < 16; ++g) {
      const float scale = d * static_cast<float>(group_scale(block, g));
      for (size_t j = g * 16; j < g * 16 + 16; ++j) {
        const int low = (block.qs[j / 128 * 32 + j % 32] >> (j % 128 / 32 * 2)) & 3;
        const int high = (block.hmask[j % 32] >> (j / 32)) & 1;
        y[j] = scale * static_cast<float>((low | high << 2) - 4);
      }
    }
  }
}

}  // namespace headrace::quant
