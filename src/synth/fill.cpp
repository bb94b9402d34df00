// Random bytes that decode to weights of a model's size.
#include <algorithm>
#include <cstring>

#include "base/half.h"
#include "synth/synth.h"

namespace headrace {

namespace {

// Where a block keeps its f16 scale, and about how large it is for weights of deviation 0.02. Where it has a minimum
// too, that is so many scales, which puts the middle of the codes at zero. What lies between is codes and packed
// scales, for which any bits will do.
struct Scales {
  BlockType type{};
  int64_t scale_offset{};
  float scale{};
  int64_t minimum_offset{-1};  // -1: none
  float minimum{};
};
constexpr Scales kScales[] = {
    {BlockType::kQ4_0, 0, 4e-3F},           {BlockType::kQ4_1, 0, 4e-3F, 2, -7.5F},
    {BlockType::kQ5_0, 0, 2e-3F},           {BlockType::kQ5_1, 0, 2e-3F, 2, -15.5F},
    {BlockType::kQ8_0, 0, 3e-4F},           {BlockType::kQ2_K, 80, 2e-3F, 82, 1.5F},
    {BlockType::kQ3_K, 108, 5e-4F},         {BlockType::kQ4_K, 0, 8e-5F, 2, 7.5F},
    {BlockType::kQ5_K, 0, 4e-5F, 2, 15.5F}, {BlockType::kQ6_K, 208, 2e-5F},
};

// SplitMix64 (Steele, Lea & Flood 2014): a counter in, a well-mixed word out.
uint64_t mixed(uint64_t x) {
  x += 0x9E3779B97F4A7C15U;
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9U;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EBU;
  return x ^ (x >> 31);
}

// In [-1, 1), by the place of an element.
float uniform(uint64_t stream, uint64_t index) {
  return static_cast<float>(static_cast<int64_t>(mixed(stream ^ index)) >> 40) * 0x1p-23F;
}

// Where the source has the element, by its place in the tensor: row p of a head's first or second half is the source's
// row 2p or 2p + 1 of that head.
uint64_t source_index(const SynthTensor& tensor, uint64_t index) {
  if (tensor.half_paired == 0) return index;
  const uint64_t columns = tensor.shape.size() == 1 ? 1 : static_cast<uint64_t>(tensor.shape.back());
  const auto width = static_cast<uint64_t>(tensor.half_paired);
  const uint64_t row = index / columns;
  const uint64_t in_head = row % width;
  const uint64_t source_row = row - in_head + 2 * (in_head % (width / 2)) + in_head / (width / 2);
  return source_row * columns + index % columns;
}

// Weights spread evenly with deviation 0.02; norms about 1.
float weight(const SynthTensor& tensor, uint64_t stream, uint64_t index) {
  const float u = uniform(stream, source_index(tensor, index));
  return tensor.is_norm ? (1.0F - tensor.norm_offset) + 0.1F * u : 0.0346F * u;
}

template <class T, class Convert>
void fill_floats(const SynthTensor& tensor, uint64_t stream, uint64_t first, std::span<std::byte> out,
                 const Convert& convert) {
  for (size_t i = 0; i < out.size() / sizeof(T); ++i) {
    const T value = convert(weight(tensor, stream, first + i));
    std::memcpy(out.data() + i * sizeof(T), &value, sizeof(T));
  }
}

void fill_blocks(const Scales& scales, uint64_t stream, uint64_t first_block, uint64_t block_bytes,
                 std::span<std::byte> out) {
  for (size_t block = 0; block < out.size() / block_bytes; ++block) {
    std::byte* at = out.data() + block * block_bytes;
    const uint64_t words = mixed(stream ^ (first_block + block));
    for (uint64_t b = 0; b < block_bytes; b += 8) {
      const uint64_t word = mixed(words + b);
      std::memcpy(at + b, &word, std::min<uint64_t>(8, block_bytes - b));
    }
    const float scale = scales.scale * (1.0F + 0.5F * uniform(words, 1));
    const uint16_t scale_bits = f32_to_f16(scale);
    std::memcpy(at + scales.scale_offset, &scale_bits, sizeof scale_bits);
    if (scales.minimum_offset < 0) continue;
    const uint16_t minimum_bits = f32_to_f16(scale * scales.minimum);
    std::memcpy(at + scales.minimum_offset, &minimum_bits, sizeof minimum_bits);
  }
}

uint64_t stream_of(uint64_t seed, std::string_view name) {
  uint64_t stream = mixed(seed);
  for (const char c : name) stream = mixed(stream ^ static_cast<unsigned char>(c));
  return stream;
}

}  // namespace

bool can_fill(BlockType type) {
  return type == BlockType::kF32 || type == BlockType::kF16 || type == BlockType::kBF16 ||
         std::ranges::any_of(kScales, [type](const Scales& s) { return s.type == type; });
}

void synth_bytes(const SynthOptions& options, const SynthTensor& tensor, uint64_t offset_bytes,
                 std::span<std::byte> out) {
  if (options.fill == SynthFill::kZeros) {
    std::ranges::fill(out, std::byte{0});
    return;
  }
  const auto block_bytes = static_cast<uint64_t>(info(tensor.type).block_bytes);
  HR_CHECK(offset_bytes % block_bytes == 0 && out.size() % block_bytes == 0);
  const uint64_t stream = stream_of(options.seed, tensor.source);
  const uint64_t first = offset_bytes / block_bytes;
  if (tensor.type == BlockType::kF32) return fill_floats<float>(tensor, stream, first, out, [](float v) { return v; });
  if (tensor.type == BlockType::kF16) return fill_floats<uint16_t>(tensor, stream, first, out, f32_to_f16);
  if (tensor.type == BlockType::kBF16) return fill_floats<uint16_t>(tensor, stream, first, out, f32_to_bf16);
  const auto* const scales = std::ranges::find(kScales, tensor.type, &Scales::type);
  HR_CHECK(scales != std::end(kScales));
  fill_blocks(*scales, stream, first, block_bytes, out);
}

}  // namespace headrace
