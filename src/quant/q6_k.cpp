// Q6_K: 256 elements in 210 bytes.
//   | 128 bytes ql | 64 bytes qh | 16 x i8 scales | f16 d |
// Elements come in halves of 128, each from 64 bytes of ql and 32 of qh. In a half, element l + 32k has its low four
// bits in ql[l + 32 * (k % 2)], the low nibble for k < 2, and its upper two in bits 2k, 2k + 1 of qh[l].
// Group g of 16 elements has the signed scale scales[g]. value = (d * scale) * (code - 32), each product rounded.
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint8_t ql[128];
  uint8_t qh[64];
  int8_t scales[16];
  uint16_t d;
};
static_assert(sizeof(Block) == 210);

}  // namespace

void q6_k_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 256;
    for (size_t g = 0; g < 16; ++g) {
      const float scale = d * static_cast<float>(block.scales[g]);
      for (size_t j = g * 16; j < g * 16 + 16; ++j) {
        const size_t half = j / 128;
        const size_t k = j % 128 / 32;
        const int low = (block.ql[half * 64 + k % 2 * 32 + j % 32] >> (k / 2 * 4)) & 15;
        const int high = (block.qh[half * 32 + j % 32] >> (k * 2)) & 3;
        y[j] = scale * static_cast<float>((low | high << 4) - 32);
      }
    }
  }
}

}  // namespace headrace::quant
