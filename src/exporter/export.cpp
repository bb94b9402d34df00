#include "exporter/export.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <fstream>

#include "exporter/contract.h"
#include "ir/print.h"
#include "passes/pipeline.h"
#include "stablehlo/emitter.h"
#include "tokenizer/pieces.h"
#include "weights/commit.h"
#include "weights/executor.h"
#include "weights/rounding.h"

namespace headrace {

namespace {

class Stopwatch {
 public:
  // Seconds since the last lap, or since the start.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    return seconds;
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// A program that is ready to be written.
struct EmittedText {
  std::string plain;  // "iree/model.mlir"
  std::string text;
  std::string function;                 // xla only
  std::vector<std::string> parameters;  // xla only
};

Status check(const ExportOptions& options) {
  if (options.targets.empty()) return fail(ErrorCode::kOptions, "no target is given, expected iree, xla or both");
  for (const std::string& pass : options.print_after)
    if (find_pass(pass) == nullptr) return fail(ErrorCode::kOptions, "there is no pass '{}'", pass);
  return {};
}

bool wants(const ExportOptions& options, Target target) {
  return std::find(options.targets.begin(), options.targets.end(), target) != options.targets.end();
}

SymbolValues symbol_values(const ExportOptions& options) { return {{"seq", options.seq}}; }

void dump(const ExportOptions& options, const ExportHooks& hooks, std::string_view pass, std::string_view of,
          const Module& module) {
  const auto& wanted = options.print_after;
  if (hooks.dump && std::find(wanted.begin(), wanted.end(), pass) != wanted.end())
    hooks.dump(fmt::format("{} ({})", pass, of), print(module));
}

// The module that the export is of, from the traced one.
Result<Module> prepare(const Module& traced, const ExportOptions& options, const ExportHooks& hooks) {
  return run_model_pipeline(
      traced, {.weights = options.dtype},
      [&](std::string_view pass, const Module& result) { dump(options, hooks, pass, "model", result); });
}

Result<Module> lower(const Module& module, Engine engine, const ExportOptions& options, const ExportHooks& hooks) {
  const PassOptions pass_options{.engine = engine, .symbols = symbol_values(options)};
  return run_pipeline(module, pass_options, [&](std::string_view pass, const Module& result) {
    dump(options, hooks, pass, name(engine), result);
  });
}

// All programs of all targets. Weights are not touched.
Result<std::vector<EmittedText>> programs(const Module& module, const ExportOptions& options, const ExportHooks& hooks,
                                          ExportReport& report) {
  std::vector<EmittedText> out;
  Stopwatch watch;
  if (wants(options, Target::kIree)) {
    HR_TRY(const Module lowered, lower(module, Engine::kIree, options, hooks));
    report.pass_seconds += watch.lap();
    HR_TRY(auto text, emit_iree(lowered));
    out.push_back({.plain = "iree/model.mlir", .text = std::move(text), .function = {}, .parameters = {}});
    report.emit_seconds += watch.lap();
  }
  if (wants(options, Target::kXla)) {
    HR_TRY(const Module lowered, lower(module, Engine::kXla, options, hooks));
    report.pass_seconds += watch.lap();
    for (const Function& f : lowered.functions) {
      HR_TRY(auto program, emit_xla(lowered, f));
      out.push_back({.plain = fmt::format("xla/{}.mlir", f.name),
                     .text = std::move(program.text),
                     .function = f.name,
                     .parameters = std::move(program.parameters)});
    }
    report.emit_seconds += watch.lap();
  }
  return out;
}

// What the process occupies now. Weights have not been touched yet, so this is code, header and graphs. (Not
// getrusage's maximum: it survives exec, so a large parent would count.) 0 where the system does not tell.
uint64_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  uint64_t total_pages = 0;
  uint64_t resident_pages = 0;
  if (!(statm >> total_pages >> resident_pages)) return 0;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

// What --max-memory leaves for buffers. The bound is on the whole process, so what it occupies already counts, and so
// do the threads' stacks and the texts that are still to be written.
Result<uint64_t> buffer_budget(uint64_t max_memory_bytes) {
  constexpr uint64_t kReserve = uint64_t{4} << 20;
  const uint64_t taken = resident_bytes() + kReserve;
  if (max_memory_bytes <= taken)
    return fail(ErrorCode::kMemoryLimit,
                "at most {} bytes of memory are allowed, and {} are taken before any weight is read", max_memory_bytes,
                taken);
  return max_memory_bytes - taken;
}

Status write_weights(ExportDirectory& directory, const ExportOptions& options, const ExportHooks& hooks,
                     ContractParts& parts, ExportReport& report, Warnings& warnings) {
  if (options.weights == WeightsForm::kNone) {
    parts.parameters = manifest_parameters(parts.module, nullptr, nullptr, {});
    return {};
  }
  HR_TRY(const ArchivePlan plan, plan_archive(parts.module, {{"format", "headrace"}}));
  HR_TRY(OutputFile file, directory.new_archive());
  std::atomic<bool> stop = false;
  const std::stop_callback forward(hooks.stop, [&] { stop = true; });
  ExecutorOptions executor;
  HR_TRY(executor.max_memory_bytes, buffer_budget(options.max_memory_bytes));
  executor.jobs = options.jobs;
  executor.stop = &stop;
  if (hooks.progress)
    executor.progress = [&](uint64_t done, uint64_t total) {
      hooks.progress({.bytes_done = done, .bytes_total = total});
    };
  HR_TRY(const WrittenArchive written,
         write_archive(plan, parts.module, parts.checkpoint.files, executor, file, warnings));
  HR_TRY(parts.archive, directory.add_archive(std::move(file), plan, written));
  parts.parameters = manifest_parameters(parts.module, &plan, &written, parts.archive->file);
  report.weight_bytes = plan.total_bytes;
  return check_overflow(parts.parameters, options.allow_overflow, warnings);
}

Status write_texts(ExportDirectory& directory, const std::vector<EmittedText>& texts,
                   const std::optional<std::string>& vocabulary, ContractParts& parts) {
  HR_TRY(parts.hir, directory.add_text("module.hir", print(parts.module)));
  if (vocabulary) {
    HR_TRY(parts.pieces, directory.add_text("vocabulary.json", *vocabulary));
  }
  for (const EmittedText& text : texts) {
    HR_TRY(ManifestText written, directory.add_text(text.plain, text.text));
    if (text.function.empty())
      parts.iree = std::move(written);
    else
      parts.xla.push_back({.function = text.function, .text = std::move(written), .parameters = text.parameters});
  }
  return {};
}

}  // namespace

Result<ExportReport> export_model(const ExportOptions& wanted, const ExportHooks& hooks, Warnings& warnings) {
  HR_TRY_STATUS(check(wanted));
  ExportReport report;
  Stopwatch total;
  Stopwatch watch;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(wanted.model_path, warnings));
  HR_TRY(const auto model, make_model(checkpoint, {.layers = wanted.layers}, warnings));
  // All that can be wrong with the source is found before the directory is touched.
  HR_TRY(auto tokenizer, tokenizer_facts(checkpoint));
  HR_TRY(const auto vocabulary, vocabulary_file(checkpoint, warnings));
  ExportOptions options = wanted;
  if (options.seq == 0) options.seq = std::min(kDefaultSeq, model->context_length());
  report.seq = options.seq;
  watch.lap();
  HR_TRY(const Module traced, trace_model(*model, checkpoint, options.seq, warnings));
  report.trace_seconds = watch.lap();
  HR_TRY(const Module module, prepare(traced, options, hooks));
  report.pass_seconds = watch.lap();
  HR_TRY(const auto texts, programs(module, options, hooks, report));
  watch.lap();

  HR_TRY(ExportDirectory directory, ExportDirectory::open(options.directory));
  const SymbolValues symbols = symbol_values(options);
  ContractParts parts{.options = options,
                      .checkpoint = checkpoint,
                      .model = *model,
                      .module = module,
                      .symbols = symbols,
                      .tokenizer = std::move(tokenizer),
                      .hir = {}};
  HR_TRY_STATUS(write_weights(directory, options, hooks, parts, report, warnings));
  report.weights_seconds = watch.lap();
  HR_TRY_STATUS(write_texts(directory, texts, vocabulary, parts));
  if (hooks.stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted before the export was complete");
  report.manifest = make_contract(std::move(parts));
  HR_TRY_STATUS(directory.commit(report.manifest, warnings));
  report.files = manifest_files(report.manifest);
  report.files.emplace_back(kManifestFile);
  report.total_seconds = total.lap();
  return report;
}

}  // namespace headrace
