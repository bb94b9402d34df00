// Q2_K: 256 elements in 84 bytes.
//   | 16 bytes scales | 64 bytes qs | f16 d | f16 dmin |
// Group g holds elements 16g .. 16g + 15; the low nibble of scales[g] is its scale, the high nibble its min.
// Elements come in halves of 128, each from 32 bytes of qs: element l + 32k of a half is bits 2k, 2k + 1 of byte l.
// value = (d * scale) * code - (dmin * min), each product and the difference rounded.
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint8_t scales[16];
  uint8_t qs[64];
  uint16_t d;
  uint16_t dmin;
};
static_assert(sizeof(Block) == 84);

}  // namespace

void q2_k_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    const float dmin = f16_to_f32(block.dmin);
    float* const y = out.data() + i * 256;
    for (size_t g = 0; g < 16; ++g) {
      const float scale = d * static_cast<float>(block.scales[g] & 15);
      const float min = dmin * static_cast<float>(block.scales[g] >> 4);
      for (size_t j = g * 16; j < g * 16 + 16; ++j) {
        const int code = (block.qs[j / 128 * 32 + j % 32] >> (j % 128 / 32 * 2)) & 3;
        y[j] = scale * static_cast<float>(code) - min;
      }
    }
  }
}

}  // namespace headrace::quant
