// IQ4_NL: 32 elements in 18 bytes.
//   | f16 d | 16 bytes qs |
// The low nibble of qs[j] is element j, the high nibble element j + 16;
// value = d * kIq4Values[nibble].
#include "base/half.h"
#include "quant/codebooks.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint8_t qs[16];
};
static_assert(sizeof(Block) == 18);

}  // namespace

void iq4_nl_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 32;
    for (size_t j = 0; j < 16; ++j) {
      y[j] = d * static_cast<float>(kIq4Values[block.qs[j] & 15]);
      y[j + 16] = d * static_cast<float>(kIq4Values[block.qs[j] >> 4]);
    }
  }
}

}  // namespace headrace::quant
