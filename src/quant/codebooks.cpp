#include "quant/codebooks.h"

namespace headrace::quant {

namespace {

#define HR_IQ_GRID(name, ...) constexpr uint16_t name[] = {__VA_ARGS__};
#include "quant/iq_grids.def"

template <class T, size_t kColumns, size_t kRows, size_t kValues>
constexpr Grid<T, kRows, kColumns> unpacked(const uint16_t (&packed)[kRows], const T (&values)[kValues]) {
  constexpr unsigned kBits = 16 / kColumns;
  constexpr unsigned kMask = (1U << kBits) - 1;
  Grid<T, kRows, kColumns> out{};
  for (size_t i = 0; i < kRows; ++i) {
    for (size_t j = 0; j < kColumns; ++j) out[i][j] = values[packed[i] >> (j * kBits) & kMask];
  }
  return out;
}

constexpr uint8_t kIq2Values[] = {8, 25, 43};
constexpr uint8_t kIq3XxsValues[] = {4, 12, 20, 28, 36, 44, 52, 62};
constexpr uint8_t kIq3SValues[] = {1, 3, 5, 7, 9, 11, 13, 15};
constexpr uint8_t kIq1Values[] = {0, 1, 2};

constexpr uint64_t sign_mask(unsigned signs) {
  uint64_t out = 0;
  for (size_t j = 0; j < 8; ++j) out |= (signs >> j & 1U) != 0 ? uint64_t{0xFF} << (j * 8) : 0;
  return out;
}

template <size_t kCount>
constexpr std::array<uint64_t, kCount> sign_masks(unsigned (*signs)(unsigned)) {
  std::array<uint64_t, kCount> out{};
  for (unsigned i = 0; i < kCount; ++i) out[i] = sign_mask(signs(i));
  return out;
}

}  // namespace

constinit const Grid<uint8_t, 256, 8> kIq2XxsGrid = unpacked<uint8_t, 8>(kIQ2_XXS, kIq2Values);
constinit const Grid<uint8_t, 512, 8> kIq2XsGrid = unpacked<uint8_t, 8>(kIQ2_XS, kIq2Values);
constinit const Grid<uint8_t, 1024, 8> kIq2SGrid = unpacked<uint8_t, 8>(kIQ2_S, kIq2Values);
constinit const Grid<uint8_t, 256, 4> kIq3XxsGrid = unpacked<uint8_t, 4>(kIQ3_XXS, kIq3XxsValues);
constinit const Grid<uint8_t, 512, 4> kIq3SGrid = unpacked<uint8_t, 4>(kIQ3_S, kIq3SValues);
constinit const Grid<uint8_t, 2048, 8> kIq1Grid = unpacked<uint8_t, 8>(kIQ1_S, kIq1Values);

constinit const std::array<uint64_t, 256> kSignMasks = sign_masks<256>([](unsigned signs) { return signs; });
constinit const std::array<uint64_t, 128> kEvenSignMasks = sign_masks<128>(even_signs);

}  // namespace headrace::quant
