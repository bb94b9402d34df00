// Q4_K: 256 elements in 144 bytes.
//   | f16 d | f16 dmin | 12 bytes scales | 128 bytes qs |
// Group g holds elements 32g .. 32g + 31 and has a scale and a min of six bits (k_scales.h).
// Groups 2k and 2k + 1 share 32 bytes of qs: low nibbles are the codes of the first, high nibbles of the second.
// value = (d * scale) * code - (dmin * min), each product and the difference rounded.
#include "base/half.h"
#include "quant/decode.h"
#include "quant/k_scales.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint16_t dmin;
  uint8_t scales[12];
  uint8_t qs[128];
};
static_assert(sizeof(Block) == 144);

}  // namespace

void q4_k_scalar(std::span<const std::byte> in, std::span<float> out) {
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
        const int code = (block.qs[g / 2 * 32 + l] >> (g % 2 * 4)) & 15;
        y[g * 32 + l] = scale * static_cast<float>(code) - min;
      }
    }
  }
}

}  // namespace headrace::quant
