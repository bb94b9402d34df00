#include "quant/rounding.h"

#include <cmath>

#include "base/half.h"

namespace headrace::quant {

namespace {

template <uint16_t (*kNarrow)(float), float (*kWiden)(uint16_t)>
void round_each(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss) {
  for (size_t i = 0; i < in.size(); ++i) {
    out[i] = kNarrow(in[i]);
    const float wide = kWiden(out[i]);
    if (wide == in[i] || std::isnan(in[i])) continue;
    ++loss.inexact;
    if (std::isinf(wide)) {
      ++loss.overflowed;
    } else {
      loss.largest_error = std::max(loss.largest_error, static_cast<double>(std::fabs(wide - in[i])));
    }
  }
}

}  // namespace

void round_to_bf16_scalar(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss) {
  round_each<f32_to_bf16, bf16_to_f32>(in, out, loss);
}

void round_to_f16_scalar(std::span<const float> in, std::span<uint16_t> out, RoundingLoss& loss) {
  round_each<f32_to_f16, f16_to_f32>(in, out, loss);
}

}  // namespace headrace::quant
