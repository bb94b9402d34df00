// Q1_0: 128 elements in 18 bytes.
//   | f16 d | 16 bytes qs |
// Bit j % 8 of qs[j / 8] is the sign of element j: value = d where it is set, -d where not.
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint8_t qs[16];
};
static_assert(sizeof(Block) == 18);

}  // namespace

void q1_0_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 128;
    for (size_t j = 0; j < 128; ++j) y[j] = ((block.qs[j / 8] >> (j % 8)) & 1) != 0 ? d : -d;
  }
}

}  // namespace headrace::quant
