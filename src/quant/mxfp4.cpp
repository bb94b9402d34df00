// MXFP4: 32 elements in 17 bytes.
//   | e8m0 e | 16 bytes qs |
// The low nibble of qs[j] is element j, the high nibble element j + 16;
// value = e8m0_half(e) * kFp4Values[nibble].
#include "quant/codebooks.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint8_t e;
  uint8_t qs[16];
};
static_assert(sizeof(Block) == 17);

}  // namespace

void mxfp4_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = e8m0_half(block.e);
    float* const y = out.data() + i * 32;
    for (size_t j = 0; j < 16; ++j) {
      y[j] = d * static_cast<float>(kFp4Values[block.qs[j] & 15]);
      y[j + 16] = d * static_cast<float>(kFp4Values[block.qs[j] >> 4]);
    }
  }
}

}  // namespace headrace::quant
