// Q8_0: 32 elements in 34 bytes.
//   | f16 d | 32 x i8 qs |
// value = d * qs[j].
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  int8_t qs[32];
};
static_assert(sizeof(Block) == 34);

}  // namespace

void q8_0_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 32;
    for (size_t j = 0; j < 32; ++j) y[j] = d * static_cast<float>(block.qs[j]);
  }
}

}  // namespace headrace::quant
