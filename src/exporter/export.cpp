#include "exporter/export.h"

#include <algorithm>
#include <chrono>

#include "exporter/contract.h"
#include "exporter/functions.h"
#include "exporter/source_checks.h"
#include "exporter/weights_stage.h"
#include "ir/print.h"
#include "passes/combine.h"
#include "passes/pipeline.h"
#include "stablehlo/emitter.h"
#include "tokenizer/chat_template.h"
#include "tokenizer/pieces.h"
#include "tokenizer/tokenizer_file.h"
#include "weights/commit.h"

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
  std::string plain;  // "iree/model.mlir", "xla/score.128.mlir"
  std::string text;
  std::vector<SymbolValues> symbols;         // of each specialisation in it; one for xla
  std::set<std::string> unchanged = {};      // iree only: functions that stand once
  std::string function = {};                 // xla only
  std::vector<std::string> parameters = {};  // xla only
};

bool wants(const ExportOptions& options, Target target) {
  return std::find(options.targets.begin(), options.targets.end(), target) != options.targets.end();
}

Status check(const ExportOptions& options) {
  if (!options.share.empty() && options.weights.empty())
    return fail(ErrorCode::kOptions, "an archive is to be shared, and no weights are to be written");
  if (options.targets.empty()) return fail(ErrorCode::kOptions, "no target is given, expected iree, xla or both");
  for (const std::string& pass : options.print_after)
    if (find_pass(pass) == nullptr) return fail(ErrorCode::kOptions, "there is no pass '{}'", pass);
  if (options.dynamic_seq && wants(options, Target::kXla))
    return fail(ErrorCode::kOptions, "xla takes no dynamic length: give lengths, or target iree alone");
  if (options.kv_globals && wants(options, Target::kXla))
    return fail(ErrorCode::kOptions, "xla has no globals: keep caches in arguments, or choose target iree alone");
  if (options.kv.extent == KvExtent::kConcat && wants(options, Target::kXla))
    return fail(ErrorCode::kOptions,
                "xla takes no caches that grow: give them a static capacity, or target iree alone");
  if (options.kv_globals && options.kv.extent == KvExtent::kConcat)
    return fail(ErrorCode::kOptions, "a cache that grows does not fit a global");
  if (options.dynamic_seq && !options.seq.empty())
    return fail(ErrorCode::kOptions, "the length is dynamic and given as well");
  return {};
}

// The lengths, ascending and each once, or the default one.
void settle_lengths(ExportOptions& options, const Model& model) {
  if (options.dynamic_seq) return;
  if (options.seq.empty()) {
    options.seq = {std::min(kDefaultSeq, model.context_length())};
    if (options.kv.capacity > 0) options.seq[0] = std::min(options.seq[0], options.kv.capacity);
  }
  std::sort(options.seq.begin(), options.seq.end());
  options.seq.erase(std::unique(options.seq.begin(), options.seq.end()), options.seq.end());
}

// The policy in full, once the lengths are known.
void settle_cache(ExportOptions& options, const Model& model, int64_t max_seq) {
  const bool cached = std::ranges::any_of(function_table(), [&](const FunctionInfo& row) {
    return row.cached && std::ranges::find(options.functions, row.name) != options.functions.end();
  });
  if (!cached) {
    options.kv = {};
    return;
  }
  const int64_t context = model.context_length();
  if (options.kv.extent == KvExtent::kConcat) options.kv.capacity = context;
  if (options.kv.extent == KvExtent::kStatic && options.kv.capacity == 0)
    options.kv.capacity = std::min(std::max(kDefaultCapacity, max_seq), context);
}

FunctionOptions function_options(const ExportOptions& options, int64_t max_seq) {
  return {.functions = options.functions,
          .max_seq = max_seq,
          .batch = options.batch,
          .kv = options.kv,
          .result = options.result};
}

// What each program is specialised for: one without any value when the length is dynamic.
std::vector<SymbolValues> specialisations(const ExportOptions& options) {
  if (options.dynamic_seq) return {SymbolValues{}};
  std::vector<SymbolValues> out;
  for (const int64_t length : options.seq) out.push_back({{"seq", length}});
  return out;
}

void dump(const ExportOptions& options, const ExportHooks& hooks, std::string_view pass, std::string_view of,
          const Module& module) {
  const auto& wanted = options.print_after;
  if (hooks.dump && std::find(wanted.begin(), wanted.end(), pass) != wanted.end())
    hooks.dump(fmt::format("{} ({})", pass, of), print(module));
}

// The module that the export is of, from the traced one.
Result<Module> prepare(const Module& traced, const ExportOptions& options, const ExportHooks& hooks) {
  return run_model_pipeline(traced, {.weights = options.dtype}, [&](std::string_view pass, const Module& result) {
    dump(options, hooks, pass, "model", result);
  });
}

// `unchanged` functions are in the first part only.
Result<std::vector<Specialised>> lower(const Module& module, const std::set<std::string>& unchanged, Engine engine,
                                       const ExportOptions& options, const ExportHooks& hooks) {
  std::vector<Specialised> out;
  for (const SymbolValues& values : specialisations(options)) {
    const PassOptions pass_options{.engine = engine, .symbols = values};
    Module part = module;
    if (!out.empty()) {
      std::erase_if(part.functions, [&](const Function& f) { return unchanged.contains(f.name); });
      if (part.functions.empty()) break;
    }
    const std::string of =
        fmt::format("{}{}", name(engine), options.seq.size() > 1 ? specialisation_suffix(values) : "");
    const auto observe = [&](std::string_view pass, const Module& result) { dump(options, hooks, pass, of, result); };
    HR_TRY(Module lowered, run_pipeline(part, pass_options, observe));
    out.push_back({.module = std::move(lowered), .values = values});
  }
  return out;
}

// All programs of all targets. Weights are not touched.
Result<std::vector<EmittedText>> programs(const Module& module, const ExportOptions& options, const ExportHooks& hooks,
                                          ExportReport& report) {
  std::vector<EmittedText> out;
  Stopwatch watch;
  // All specialisations give values to the same symbols.
  const auto unchanged = unchanged_functions(module, specialisations(options).front());
  if (wants(options, Target::kIree)) {
    HR_TRY(const auto lowered, lower(module, unchanged, Engine::kIree, options, hooks));
    HR_TRY(const Module together, combine(lowered, unchanged));
    report.pass_seconds += watch.lap();
    HR_TRY(auto text, emit_iree(together, {.state_in_globals = options.kv_globals}));
    out.push_back({.plain = "iree/model.mlir",
                   .text = std::move(text),
                   .symbols = specialisations(options),
                   .unchanged = unchanged});
    report.emit_seconds += watch.lap();
  }
  if (wants(options, Target::kXla)) {
    HR_TRY(const auto lowered, lower(module, unchanged, Engine::kXla, options, hooks));
    report.pass_seconds += watch.lap();
    for (const Specialised& part : lowered)
      for (const Function& f : part.module.functions) {
        HR_TRY(auto program, emit_xla(part.module, f));
        const bool plain = lowered.size() == 1 || unchanged.contains(f.name);
        const std::string suffix = plain ? "" : specialisation_suffix(part.values);
        out.push_back({.plain = fmt::format("xla/{}{}.mlir", f.name, suffix),
                       .text = std::move(program.text),
                       .symbols = {part.values},
                       .function = f.name,
                       .parameters = std::move(program.parameters)});
      }
    report.emit_seconds += watch.lap();
  }
  return out;
}

Status write_texts(ExportDirectory& directory, const std::vector<EmittedText>& texts,
                   const std::optional<TokenizerFile>& vocabulary, ContractParts& parts) {
  HR_TRY(parts.hir, directory.add_text("module.hir", print(parts.module)));
  if (vocabulary) {
    HR_TRY(parts.pieces, directory.add_text(vocabulary->name, vocabulary->text));
  }
  for (const EmittedText& text : texts) {
    HR_TRY(ManifestText written, directory.add_text(text.plain, text.text));
    if (text.function.empty())
      parts.iree = {.symbols = text.symbols, .unchanged = text.unchanged, .text = std::move(written)};
    else
      parts.xla.push_back({.function = text.function,
                           .symbols = text.symbols.front(),
                           .text = std::move(written),
                           .parameters = text.parameters});
  }
  return {};
}

// Templates change no number, so what is wrong with them is only said.
std::optional<std::string> chat_text(const Checkpoint& checkpoint, Warnings& warnings) {
  const auto templates = read_chat_templates(checkpoint);
  if (templates) return chat_file(*templates);
  warnings.add("no chat templates are exported: {}", templates.error().message);
  return std::nullopt;
}

}  // namespace

Result<ExportReport> export_model(const ExportOptions& wanted, const ExportHooks& hooks, Warnings& warnings) {
  HR_TRY_STATUS(check(wanted));
  ExportReport report;
  Stopwatch total;
  Stopwatch watch;
  HR_TRY(Checkpoint checkpoint, open_checkpoint(wanted.model_path, warnings));
  HR_TRY_STATUS(drop_copied_head(checkpoint, warnings));
  HR_TRY(const auto model, make_model(checkpoint, {.layers = wanted.layers}, warnings));
  // All that can be wrong with the source is found before the directory is touched.
  HR_TRY(auto tokenizer, tokenizer_facts(checkpoint, model->vocabulary()));
  HR_TRY(const auto vocabulary, tokenizer_file(checkpoint, warnings));
  ExportOptions options = wanted;
  settle_lengths(options, *model);
  report.seq = options.seq;
  report.max_seq = options.dynamic_seq ? model->context_length() : options.seq.back();
  settle_cache(options, *model, report.max_seq);
  watch.lap();
  HR_TRY(const TracedModel traced,
         trace_functions(*model, checkpoint, function_options(options, report.max_seq), warnings));
  HR_TRY_STATUS(check_rope_factors(checkpoint, traced.module));
  report.trace_seconds = watch.lap();
  HR_TRY(const Module module, prepare(traced.module, options, hooks));
  report.pass_seconds = watch.lap();
  HR_TRY(const auto texts, programs(module, options, hooks, report));
  watch.lap();

  HR_TRY(ExportDirectory directory, ExportDirectory::open(options.directory));
  ContractParts parts{.options = options,
                      .checkpoint = checkpoint,
                      .model = *model,
                      .module = module,
                      .layout = traced.layout,
                      .tokenizer = std::move(tokenizer),
                      .hir = {}};
  HR_TRY_STATUS(write_weights(directory, options, hooks, parts, report, warnings));
  report.weights_seconds = watch.lap();
  HR_TRY_STATUS(write_texts(directory, texts, vocabulary, parts));
  if (const auto chat = chat_text(checkpoint, warnings)) {
    HR_TRY(parts.chat, directory.add_text("chat.json", *chat));
  }
  if (hooks.stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted before the export was complete");
  report.manifest = make_contract(std::move(parts));
  HR_TRY_STATUS(directory.commit(report.manifest, warnings));
  report.files = manifest_files(report.manifest);
  report.files.emplace_back(kManifestFile);
  report.total_seconds = total.lap();
  return report;
}

}  // namespace headrace
