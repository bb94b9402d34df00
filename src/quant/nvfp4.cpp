// NVFP4: 64 elements in 36 bytes.
//   | 4 x ue4m3 d | 32 bytes qs |
// Group g of 16 elements has the scale d[g] and the bytes qs[8g .. 8g + 7]: the low nibble of byte j is element j of
// the group, the high nibble element j + 8.
// value = ue4m3_half(d[g]) * kFp4Values[nibble].
// (The f32 scale that the original format has for the whole tensor is another tensor in a GGUF: X.scale to X.weight.)
#include "quant/codebooks.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint8_t d[4];
  uint8_t qs[32];
};
static_assert(sizeof(Block) == 36);

}  // namespace

void nvfp4_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    float* const y = out.data() + i * 64;
    for (size_t g = 0; g < 4; ++g) {
      const float scale = ue4m3_half(block.d[g]);
      for (size_t j = 0; j < 8; ++j) {
        const uint8_t q = block.qs[g * 8 + j];
        y[g * 16 + j] = scale * static_cast<float>(kFp4Values[q & 15]);
        y[g * 16 + j + 8] = scale * static_cast<float>(kFp4Values[q >> 4]);
      }
    }
  }
}

}  // namespace headrace::quant
