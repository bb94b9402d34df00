// TQ1_0: 256 elements in 54 bytes.
//   | 48 bytes qs | 4 bytes qh | f16 d |
// Base 3: a byte of qs holds five digits, one of qh four. Digit n of byte b is ((b * 3^n mod 256) * 3) >> 8, which
// reads the byte as a fraction of 256 from its most significant digit on. Elements come in runs, one digit of each
// byte after the other: 5 digits of qs[0..31], 5 of qs[32..47], 4 of qh[0..3].
// value = d * (digit - 1).
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

namespace {

struct Block {
  uint8_t qs[48];
  uint8_t qh[4];
  uint16_t d;
};
static_assert(sizeof(Block) == 54);

struct Run {
  bool in_qh;
  size_t start;
  size_t bytes;
  size_t digits;
};
constexpr Run kRuns[] = {{false, 0, 32, 5}, {false, 32, 16, 5}, {true, 0, 4, 4}};

int digit(uint8_t packed, size_t n) {
  constexpr unsigned kPowers[] = {1, 3, 9, 27, 81};
  return static_cast<int>((packed * kPowers[n] & 255U) * 3 >> 8);
}

}  // namespace

void tq1_0_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < in.size() / sizeof(Block); ++i) {
    const Block block = load_block<Block>(in, i);
    const float d = f16_to_f32(block.d);
    float* next = out.data() + i * 256;
    for (const Run& run : kRuns) {
      const uint8_t* const bytes = (run.in_qh ? block.qh : block.qs) + run.start;
      for (size_t n = 0; n < run.digits; ++n) {
        for (size_t m = 0; m < run.bytes; ++m) *next++ = d * static_cast<float>(digit(bytes[m], n) - 1);
      }
    }
  }
}

}  // namespace headrace::quant
