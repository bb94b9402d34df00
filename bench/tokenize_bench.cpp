// Tokenizers, on one core: BENCH_TOKENIZER names a checkpoint or tokenizer.json, BENCH_TEXT a file (default: repeated
// English).
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "formats/file.h"
#include "tokenizer/tokenizer_file.h"

namespace headrace {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): before any thread is started
  return value == nullptr ? "" : value;
}

Result<Tokenizer> wanted() {
  const std::string path = variable("BENCH_TOKENIZER");
  if (path.ends_with(".json")) return load_tokenizer(path);
  Warnings warnings;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(path, warnings));
  return read_tokenizer(checkpoint);
}

Result<std::string> text() {
  const std::string path = variable("BENCH_TEXT");
  if (path.empty()) return fail(ErrorCode::kInput, "BENCH_TEXT is not set");
  HR_TRY(const InputFile file, InputFile::open(path));
  return file.read_text(0, file.size_bytes());
}

void run(benchmark::State& state, const std::string& input) {
  const auto tokenizer = wanted();
  if (!tokenizer) return state.SkipWithError(tokenizer.error().message.c_str());
  size_t ids = 0;
  for (auto _ : state) {  // NOLINT(clang-analyzer-deadcode.DeadStores)
    const auto encoded = tokenizer->encode(input);
    if (!encoded) return state.SkipWithError(encoded.error().message.c_str());
    ids = encoded->size();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * input.size()));
  state.counters["ids"] = static_cast<double>(ids);
}

void encode_text(benchmark::State& state) {
  const auto input = text();
  if (!input) return state.SkipWithError(input.error().message.c_str());
  run(state, *input);
}
void encode_one_letter(benchmark::State& state) { run(state, std::string(1'000'000, 'a')); }
void encode_spaces(benchmark::State& state) { run(state, std::string(1'000'000, ' ')); }

void load(benchmark::State& state) {
  for (auto _ : state) {  // NOLINT(clang-analyzer-deadcode.DeadStores)
    const auto tokenizer = wanted();
    if (!tokenizer) return state.SkipWithError(tokenizer.error().message.c_str());
  }
}

BENCHMARK(encode_text)->Unit(benchmark::kMillisecond);
BENCHMARK(encode_one_letter)->Unit(benchmark::kMillisecond);
BENCHMARK(encode_spaces)->Unit(benchmark::kMillisecond);
BENCHMARK(load)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headrace

BENCHMARK_MAIN();
