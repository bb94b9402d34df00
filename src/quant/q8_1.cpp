// Q8_1: 32 elements in 36 bytes.
//   | f16 d | f16 s | 32 x i8 qs |
// value = d * qs[j]; s is d times the sum of qs, which ggml keeps for its products, and is not used here. ggml makes
// these blocks of activations, not of weights. (gguf-py's table gives 40 bytes: d and s were once f32.)
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint16_t s;
  int8_t qs[32];
};
static_assert(sizeof(Block) == 36);

}  // namespace

void q8_1_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 32;
    for (size_t j = 0; j < 32; ++j) y[j] = d * static_cast<float>(block.qs[j]);
  }
}

}  // namespace headrace::quant
