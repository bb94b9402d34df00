// Q4_1: 32 elements in 20 bytes.
//   | f16 d | f16 m | 16 bytes qs |
// The low nibble of qs[j] is element j, the high nibble element j + 16; value = (d * nibble) + m, rounded twice.
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint16_t m;
  uint8_t qs[16];
};
static_assert(sizeof(Block) == 20);

}  // namespace

void q4_1_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    const float m = f16_to_f32(block.m);
    float* const y = out.data() + i * 32;
    for (size_t j = 0; j < 16; ++j) {
      y[j] = d * static_cast<float>(block.qs[j] & 15) + m;
      y[j + 16] = d * static_cast<float>(block.qs[j] >> 4) + m;
    }
  }
}

}  // namespace headrace::quant
