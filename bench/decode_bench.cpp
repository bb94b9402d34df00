// Decoding against copying: what a core can do per second, in bytes of f32 written. The data (1 MiB of f32) stays in
// the second-level cache, so that the kernels are measured and not the memory.
#include <benchmark/benchmark.h>

#include <cstring>
#include <random>
#include <vector>

#include "quant/block_type.h"

namespace headrace {
namespace {

constexpr size_t kElements = size_t{1} << 18;

std::vector<std::byte> random_blocks(const BlockTypeInfo& row) {
  const size_t blocks = kElements / static_cast<size_t>(row.block_elements);
  std::vector<std::byte> out(blocks * static_cast<size_t>(row.block_bytes));
  std::mt19937 random(7);
  // No byte has the upper bit of an f16's exponent, so that no scale is infinite or NaN, wherever the format keeps it.
  for (std::byte& byte : out) byte = static_cast<std::byte>(random()) & std::byte{0xBF};
  return out;
}

void run(benchmark::State& state, BlockType type, DecodeF32 decode) {
  const auto in = random_blocks(info(type));
  std::vector<float> out(kElements);
  for (auto _ : state) {
    decode(in, out);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(out.size() * sizeof(float)));
}

void scalar(benchmark::State& state, BlockType type) { run(state, type, info(type).scalar); }
void fast(benchmark::State& state, BlockType type) { run(state, type, info(type).fast); }

void copy(benchmark::State& state) {
  const std::vector<float> in(kElements, 1.F);
  std::vector<float> out(kElements);
  for (auto _ : state) {
    std::memcpy(out.data(), in.data(), out.size() * sizeof(float));
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(out.size() * sizeof(float)));
}

BENCHMARK(copy);
BENCHMARK_CAPTURE(scalar, f16, BlockType::kF16);
BENCHMARK_CAPTURE(scalar, bf16, BlockType::kBF16);
BENCHMARK_CAPTURE(scalar, q4_0, BlockType::kQ4_0);
BENCHMARK_CAPTURE(scalar, q4_1, BlockType::kQ4_1);
BENCHMARK_CAPTURE(fast, q4_1, BlockType::kQ4_1);
BENCHMARK_CAPTURE(scalar, q5_0, BlockType::kQ5_0);
BENCHMARK_CAPTURE(fast, q5_0, BlockType::kQ5_0);
BENCHMARK_CAPTURE(scalar, q5_1, BlockType::kQ5_1);
BENCHMARK_CAPTURE(scalar, q8_0, BlockType::kQ8_0);
BENCHMARK_CAPTURE(fast, q8_0, BlockType::kQ8_0);
BENCHMARK_CAPTURE(scalar, q2_k, BlockType::kQ2_K);
BENCHMARK_CAPTURE(scalar, q3_k, BlockType::kQ3_K);
BENCHMARK_CAPTURE(scalar, q4_k, BlockType::kQ4_K);
BENCHMARK_CAPTURE(fast, q4_k, BlockType::kQ4_K);
BENCHMARK_CAPTURE(scalar, q5_k, BlockType::kQ5_K);
BENCHMARK_CAPTURE(scalar, q6_k, BlockType::kQ6_K);
BENCHMARK_CAPTURE(fast, q6_k, BlockType::kQ6_K);

}  // namespace
}  // namespace headrace

BENCHMARK_MAIN();
