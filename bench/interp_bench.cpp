// The interpreter: contractions by shape, then whole models. SmolLM2 is measured when HEADRACE_SMOLLM2 names its GGUF;
// it is exported to a temporary folder first (538 MB).
#include <benchmark/benchmark.h>

#include <cstdlib>
#include <filesystem>
#include <random>
#include <vector>

#include "engine/session.h"
#include "exporter/export.h"
#include "interp/gemm.h"
#include "ops/contraction.h"

namespace headrace {
namespace {

// m x 576 times a matrix of the model: n = 576 (o), 1536 (ffn), 49152 (head).
void contract(benchmark::State& state, ContractFn<float> function) {
  const int64_t m = state.range(0);
  const int64_t n = state.range(1);
  constexpr int64_t kWidth = 576;
  std::mt19937 random(1);
  std::uniform_real_distribution<float> value(-1, 1);
  std::vector<float> a(static_cast<size_t>(m * kWidth));
  std::vector<float> b(static_cast<size_t>(n * kWidth));
  std::vector<float> c(static_cast<size_t>(m * n));
  for (float& v : a) v = value(random);
  for (float& v : b) v = value(random);
  const Contraction<float> contraction{.batch = 1,
                                       .m = m,
                                       .n = n,
                                       .k = kWidth,
                                       .a = a.data(),
                                       .a_row_stride = kWidth,
                                       .a_col_stride = 1,
                                       .b = b.data(),
                                       .b_row_stride = kWidth,
                                       .b_col_stride = 1,
                                       .c = c.data()};
  for (auto _ : state) {
    function(contraction);
    benchmark::DoNotOptimize(c.data());
  }
  state.counters["flop/s"] =
      benchmark::Counter(static_cast<double>(2 * m * n * kWidth), benchmark::Counter::kIsIterationInvariantRate);
}
void gemm_1_thread(benchmark::State& state) { contract(state, fast_contraction<float>(1)); }
void gemm_all_threads(benchmark::State& state) { contract(state, fast_contraction<float>(0)); }
void loop(benchmark::State& state) { contract(state, ops::contract_loop<float>); }
BENCHMARK(gemm_1_thread)->ArgsProduct({{1, 5, 128}, {576, 1536, 49152}})->UseRealTime();
BENCHMARK(gemm_all_threads)->ArgsProduct({{1, 5, 128}, {576, 1536, 49152}})->UseRealTime();
BENCHMARK(loop)->ArgsProduct({{5}, {576, 1536}})->UseRealTime();

// An export in a temporary folder, removed at the end.
class Exported {
 public:
  Exported(const std::string& model, int64_t seq)
      : directory_((std::filesystem::temp_directory_path() / "headrace_interp_bench").string()) {
    std::filesystem::remove_all(directory_);
    Warnings warnings;
    ExportOptions options;
    options.model_path = model;
    options.directory = directory_;
    options.seq = seq;
    const auto report = export_model(options, {}, warnings);
    if (!report) error_ = report.error().text();
  }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;
  ~Exported() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  [[nodiscard]] const std::string& directory() const { return directory_; }
  [[nodiscard]] const std::string& error() const { return error_; }

 private:
  std::string directory_;
  std::string error_;
};

template <class F>
void score(benchmark::State& state, const std::string& model, int64_t seq) {
  const Exported exported(model, seq);
  if (!exported.error().empty()) return state.SkipWithError(exported.error().c_str());
  auto session = Session<F>::open(exported.directory());
  if (!session) return state.SkipWithError(session.error().text().c_str());
  std::vector<int64_t> tokens;
  for (int64_t i = 0; i < state.range(0); ++i) tokens.push_back(5 + i * 7 % 300);
  for (auto _ : state) {
    const auto logits = session->score(tokens);
    if (!logits) return state.SkipWithError(logits.error().text().c_str());
  }
  state.counters["tokens/s"] =
      benchmark::Counter(static_cast<double>(state.range(0)), benchmark::Counter::kIsIterationInvariantRate);
}

template <class F>
void score_tiny(benchmark::State& state) {
  score<F>(state, std::string(HEADRACE_TESTDATA) + "/zoo/llama/llama.f32.gguf", 64);
}
BENCHMARK(score_tiny<float>)->Arg(1)->Arg(23)->UseRealTime();
BENCHMARK(score_tiny<double>)->Arg(23)->UseRealTime();

template <class F>
void score_smollm2(benchmark::State& state) {
  const char* model = std::getenv("HEADRACE_SMOLLM2");
  if (model == nullptr) return state.SkipWithError("HEADRACE_SMOLLM2 is not set");
  score<F>(state, model, 1024);
}
BENCHMARK(score_smollm2<float>)->Arg(1)->Arg(5)->Arg(663)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(score_smollm2<double>)->Arg(5)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headrace

BENCHMARK_MAIN();
