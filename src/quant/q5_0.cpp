// Q5_0: 32 elements in 22 bytes.
//   | f16 d | 4 bytes qh | 16 bytes qs |
// The low nibble of qs[j] is the low part of element j, the high nibble that of element j + 16; the fifth bit of
// element j is bit j of qh, read as a little-endian u32. value = d * (code - 16), the code unsigned.
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint8_t qh[4];  // bytes, because a u32 here would be padded to alignment
  uint8_t qs[16];
};
static_assert(sizeof(Block) == 22);

}  // namespace

void q5_0_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 32;
    for (size_t j = 0; j < 32; ++j) {
      const int low = j < 16 ? block.qs[j] & 15 : block.qs[j - 16] >> 4;
      const int high = (block.qh[j / 8] >> (j % 8)) & 1;
      y[j] = d * static_cast<float>((low | high << 4) - 16);
    }
  }
}

}  // namespace headrace::quant
