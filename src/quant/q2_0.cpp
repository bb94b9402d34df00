// Q2_0: 64 elements in 18 bytes.
//   | f16 d | 16 bytes qs |
// The code of element j is two bits of qs[j / 4], from the low end;
// value = d * (code - 1), of which 2 * d is one.
// (A fork of llama.cpp wrote other blocks, of 128 elements in 34 bytes, under the same id. Their sizes do not fit.)
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

void q2_0_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 64;
    for (size_t j = 0; j < 64; ++j) {
      const int code = (block.qs[j / 4] >> (j % 4 * 2)) & 3;
      y[j] = d * static_cast<float>(code - 1);
    }
  }
}

}  // namespace headrace::quant
