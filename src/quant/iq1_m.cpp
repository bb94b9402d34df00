// IQ1_M: 256 elements in 56 bytes.
//   | 32 bytes qs | 16 bytes qh | 4 x u16 scales |
// The upper nibbles of scales[0..3], low to high, are the f16 d. Row r, the elements 8r .. 8r + 7, has nibble r of qh,
// the low one first: its lower three bits and qs[r] are a row of kIq1Grid, bit 3 makes kIq1Delta negative. Rows 2k and
// 2k + 1 share a scale of three bits, bits 3 * (k % 4) on of scales[k / 4].
// value = (d * (2 * scale + 1)) * (row[j] - 1 + delta), each product rounded, the sum exact.
#include "base/half.h"
#include "quant/codebooks.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint8_t qs[32];
  uint8_t qh[16];
  uint16_t scales[4];
};
static_assert(sizeof(Block) == 56);

uint16_t d_bits(const Block& block) {
  unsigned bits = 0;
  for (size_t k = 0; k < 4; ++k) bits |= static_cast<unsigned>(block.scales[k] >> 12U) << (k * 4);
  return static_cast<uint16_t>(bits);
}

}  // namespace

void iq1_m_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(d_bits(block));
    float* const y = out.data() + i * 256;
    for (size_t r = 0; r < 32; ++r) {
      const unsigned three_bits = block.scales[r / 8] >> (r / 2 % 4 * 3) & 7U;
      const float scale = d * static_cast<float>(2 * three_bits + 1);
      const unsigned high = block.qh[r / 2] >> (r % 2 * 4);
      const float delta = (high & 8U) != 0 ? -kIq1Delta : kIq1Delta;
      const auto& row = kIq1Grid[block.qs[r] | (high & 7U) << 8];
      for (size_t j = 0; j < 8; ++j) y[r * 8 + j] = scale * (static_cast<float>(row[j] - 1) + delta);
    }
  }
}

}  // namespace headrace::quant
