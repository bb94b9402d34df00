// Q5_1: 32 elements in 24 bytes.
//   | f16 d | f16 m | 4 bytes qh | 16 bytes qs |
// Codes of five bits as in Q5_0; value = (d * code) + m, the code unsigned, rounded twice.
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint16_t m;
  uint8_t qh[4];
  uint8_t qs[16];
};
static_assert(sizeof(Block) == 24);

}  // namespace

void q5_1_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    const float m = f16_to_f32(block.m);
    float* const y = out.data() + i * 32;
    for (size_t j = 0; j < 32; ++j) {
      const int low = j < 16 ? block.qs[j] & 15 : block.qs[j - 16] >> 4;
      const int high = (block.qh[j / 8] >> (j % 8)) & 1;
      y[j] = d * static_cast<float>(low | high << 4) + m;
    }
  }
}

}  // namespace headrace::quant
