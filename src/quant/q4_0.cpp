// Q4_0: 32 elements in 18 bytes.
//   | f16 d | 16 bytes qs |
// The low nibble of qs[j] is element j, the high nibble element j + 16; value = d * (nibble - 8), the nibble unsigned.
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

void q4_0_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 32;
    for (size_t j = 0; j < 16; ++j) {
      y[j] = d * static_cast<float>((block.qs[j] & 15) - 8);
      y[j + 16] = d * static_cast<float>((block.qs[j] >> 4) - 8);
    }
  }
}

}  // namespace headrace::quant
