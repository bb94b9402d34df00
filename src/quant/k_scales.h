// The 6-bit scales and mins of Q4_K and Q5_K: eight of each in 12 bytes.
//   bytes 0-3     low six bits: scale 0-3;   upper two: bits 4-5 of scale 4-7
//   bytes 4-7     low six bits: min 0-3;     upper two: bits 4-5 of min 4-7
//   bytes 8-11    low nibble: bits 0-3 of scale 4-7;   high nibble: bits 0-3 of min 4-7
#pragma once

#include <cstddef>
#include <cstdint>

namespace headrace::quant {

struct KScales {
  float scale[8];
  float min[8];
};

[[nodiscard]] inline KScales unpack_k_scales(const uint8_t* packed) {
  KScales out;
  for (size_t g = 0; g < 4; ++g) {
    const int scale = packed[g];
    const int min = packed[g + 4];
    const int rest = packed[g + 8];
    out.scale[g] = static_cast<float>(scale & 63);
    out.min[g] = static_cast<float>(min & 63);
    out.scale[g + 4] = static_cast<float>((rest & 15) | (scale >> 6 << 4));
    out.min[g + 4] = static_cast<float>((rest >> 4) | (min >> 6 << 4));
  }
  return out;
}

}  // namespace headrace::quant
