// Q5_K: 256 elements in 176 bytes.
//   | f16 d | f16 dmin | 12 bytes scales | 32 bytes qh | 128 bytes qs |
// As Q4_K, with a fifth bit: that of element l of group g is bit g of qh[l].
#include "base/half.h"
#include "quant/decode.h"
#include "quant/k_scales.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t qh[32];
  uint8_t qs[128];
};
static_assert(sizeof(Block) == 176);

}  // namespace

void q5_k_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    const float dmin = f16_to_f32(block.dmin);
    const KScales six_bit = unpack_k_scales(block.scales);
    float* const y = out.data() + i * 256;
    for (size_t g = 0; g < 8; ++g) {
      const float scale = d * six_bit.scale[g];
      const float min = dmin * six_bit.min[g];
      for (size_t l = 0; l < 32; ++l) {
        const int low = (block.qs[g / 2 * 32 + l] >> (g % 2 * 4)) & 15;
        const int high = (block.qh[l] >> g) & 1;
        y[g * 32 + l] = scale * static_cast<float>(low | high << 4) - min;
      }
    }
  }
}

}  // namespace headrace::quant
