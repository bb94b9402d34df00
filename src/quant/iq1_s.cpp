// IQ1_S: 256 elements in 50 bytes.
//   | f16 d | 32 bytes qs | 8 x u16 qh |
// qs[r] and three bits of qh[r / 4], bits 3 * (r % 4) on, are a row of kIq1Grid, the elements 8r .. 8r + 7. Group g of
// 32 elements has a scale in bits 12-14 of qh[g]; its delta is kIq1Delta, negative where bit 15 is set.
// value = (d * (2 * scale + 1)) * (row[j] - 1 + delta), each product rounded, the sum exact.
#include "base/half.h"
#include "quant/codebooks.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint16_t d;
  uint8_t qs[32];
  uint16_t qh[8];
};
static_assert(sizeof(Block) == 50);

}  // namespace

void iq1_s_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* const y = out.data() + i * 256;
    for (size_t r = 0; r < 32; ++r) {
      const unsigned qh = block.qh[r / 4];
      const float scale = d * static_cast<float>(2 * (qh >> 12 & 7U) + 1);
      const float delta = (qh & 0x8000U) != 0 ? -kIq1Delta : kIq1Delta;
      const auto& row = kIq1Grid[block.qs[r] | (qh >> (r % 4 * 3) & 7U) << 8];
      for (size_t j = 0; j < 8; ++j) y[r * 8 + j] = scale * (static_cast<float>(row[j] - 1) + delta);
    }
  }
}

}  // namespace headrace::quant
