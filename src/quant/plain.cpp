// F32, F16 and BF16: one number per block.
//   F32   | f32 |        copied, NaN payloads included
//   F16   | f16 |        widened exactly
//   BF16  | u16 |        the upper half of an f32
#include "base/half.h"
#include "quant/decode.h"

namespace headrace::quant {

void f32_scalar(std::span<const std::byte> in, std::span<float> out) {
  if (!out.empty()) std::memcpy(out.data(), in.data(), in.size());
}

void f16_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = f16_to_f32(load_block<uint16_t>(in, i));
}

void bf16_scalar(std::span<const std::byte> in, std::span<float> out) {
  for (size_t i = 0; i < out.size(); ++i) out[i] = bf16_to_f32(load_block<uint16_t>(in, i));
}

}  // namespace headrace::quant
