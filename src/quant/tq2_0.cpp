// TQ2_0: 256 elements in 66 bytes.
//   | 64 bytes qs | f16 d |
// Elements come in halves of 128, each from 32 bytes of qs: the code of element l + 32k of a half is bits 2k, 2k + 1
// of byte l.
// value = d * (code - 1); writers use the codes 0 to 2.
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint8_t qs[64];
  uint16_t d;
};
static_assert(sizeof(Block) == 66);

}  // namespace

void tq2_0_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 256;
    for (size_t j = 0; j < 256; ++j) {
      const int code = (block.qs[j / 128 * 32 + j % 32] >> (j % 128 / 32 * 2)) & 3;
      y[j] = d * static_cast<float>(code - 1);
    }
  }
}

}  // namespace headrace::quant
