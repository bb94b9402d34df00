// Q8_K: 256 elements in 292 bytes.
//   | f32 d | 256 x i8 qs | 16 x i16 bsums |
// value = d * qs[j]; bsums are the sums of qs in groups of 16, which ggml keeps for its products, and are not used
// here. ggml makes these blocks of activations, not of weights.
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  float d;
  int8_t qs[256];
  int16_t bsums[16];
};
static_assert(sizeof(Block) == 292);

}  // namespace

void q8_k_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    float* const y = out.data() + i * 256;
    for (size_t j = 0; j < 256; ++j) y[j] = block.d * static_cast<float>(block.qs[j]);
  }
}

}  // namespace headrace::quant
