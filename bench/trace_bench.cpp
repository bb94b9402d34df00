// Trace, passes and print: everything an export does before it reads a weight. The model is llama-shaped with as many
// layers as the argument says; its checkpoint is an index made here, without a file. CPU time is what counts.
#include <benchmark/benchmark.h>

#include <stdexcept>

#include "exporter/export.h"
#include "exporter/functions.h"
#include "ir/print.h"
#include "passes/pipeline.h"
#include "stablehlo/emitter.h"

namespace headrace {
namespace {

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

void add(Checkpoint& c, const std::string& name, std::vector<int64_t> shape) {
  c.by_name[name] = c.tensors.size();
  c.tensors.push_back({.name = name,
                       .type = BlockType::kF32,
                       .shape = std::move(shape),
                       .file = 0,
                       .offset_bytes = 0,
                       .length_bytes = 0});
}

Checkpoint checkpoint_of(int64_t layers) {
  Checkpoint c;
  const auto number = [&](const char* key, uint64_t value) { c.metadata[key].value = value; };
  c.metadata["general.architecture"].value = std::string("llama");
  number("llama.block_count", static_cast<uint64_t>(layers));
  number("llama.context_length", 8192);
  number("llama.embedding_length", 576);
  number("llama.feed_forward_length", 1536);
  number("llama.attention.head_count", 9);
  number("llama.attention.head_count_kv", 3);
  c.metadata["llama.attention.layer_norm_rms_epsilon"].value = 1e-5;
  c.metadata["llama.rope.freq_base"].value = 1e5;
  add(c, "token_embd.weight", {49152, 576});
  for (int64_t i = 0; i < layers; ++i) {
    const auto name = [&](const char* what) { return fmt::format("blk.{}.{}.weight", i, what); };
    for (const char* norm : {"attn_norm", "ffn_norm"}) add(c, name(norm), {576});
    for (const char* square : {"attn_q", "attn_output"}) add(c, name(square), {576, 576});
    for (const char* kv : {"attn_k", "attn_v"}) add(c, name(kv), {192, 576});
    for (const char* wide : {"ffn_gate", "ffn_up"}) add(c, name(wide), {1536, 576});
    add(c, name("ffn_down"), {576, 1536});
  }
  add(c, "output_norm.weight", {576});
  return c;
}

void trace_only(benchmark::State& state) {
  const Checkpoint checkpoint = checkpoint_of(state.range(0));
  for (auto _ : state) {
    Warnings warnings;
    const auto model = must(make_model(checkpoint, {}, warnings));
    benchmark::DoNotOptimize(must(trace_model(*model, checkpoint, 128, warnings)));
  }
}

void passes_only(benchmark::State& state, Engine engine) {
  const Checkpoint checkpoint = checkpoint_of(state.range(0));
  Warnings warnings;
  const Module module = must(trace_model(*must(make_model(checkpoint, {}, warnings)), checkpoint, 128, warnings));
  for (auto _ : state)
    benchmark::DoNotOptimize(must(run_pipeline(module, {.engine = engine, .symbols = {{"seq", 128}}})));
}

// The passes of both targets, both texts and module.hir: their bytes.
size_t print_for_both(const Module& module) {
  size_t bytes = print(module).size();
  bytes += must(emit_iree(must(run_pipeline(module, {.engine = Engine::kIree, .symbols = {{"seq", 128}}})))).size();
  const Module xla = must(run_pipeline(module, {.engine = Engine::kXla, .symbols = {{"seq", 128}}}));
  for (const Function& f : xla.functions) bytes += must(emit_xla(xla, f)).text.size();
  return bytes;
}

// Trace, passes and print.
void everything(benchmark::State& state) {
  const Checkpoint checkpoint = checkpoint_of(state.range(0));
  for (auto _ : state) {
    Warnings warnings;
    const auto model = must(make_model(checkpoint, {}, warnings));
    const Module module = must(trace_model(*model, checkpoint, 128, warnings));
    state.counters["text_bytes"] = static_cast<double>(print_for_both(module));
  }
}

// The same of every function that an export can hold, at one length, over static caches.
void every_function(benchmark::State& state) {
  const Checkpoint checkpoint = checkpoint_of(state.range(0));
  FunctionOptions options{.functions = {}, .max_seq = 128, .kv = {.extent = KvExtent::kStatic, .capacity = 1024}};
  for (const FunctionInfo& f : function_table()) options.functions.emplace_back(f.name);
  for (auto _ : state) {
    Warnings warnings;
    const auto model = must(make_model(checkpoint, {}, warnings));
    const Module module = must(trace_functions(*model, checkpoint, options, warnings)).module;
    state.counters["text_bytes"] = static_cast<double>(print_for_both(module));
  }
}

BENCHMARK(trace_only)->Arg(30)->Arg(126)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(passes_only, iree, Engine::kIree)->Arg(30)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(passes_only, xla, Engine::kXla)->Arg(30)->Unit(benchmark::kMillisecond);
BENCHMARK(everything)->Arg(30)->Arg(126)->Unit(benchmark::kMillisecond);
BENCHMARK(every_function)->Arg(30)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headrace

BENCHMARK_MAIN();
