#include <algorithm>
#include <filesystem>
#include <memory>
#include <thread>

#include "exporter/export.h"
#include "passes/pipeline.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/text.h"
#include "tools/usage.h"
#include "weights/archive_format.h"
#include "weights/rounding.h"

namespace headrace::tools {
namespace {

constexpr int64_t kMaxLayers = int64_t{1} << 24;
constexpr int64_t kMaxSeq = int64_t{1} << 24;
constexpr int64_t kMaxJobs = 1024;

// What the user typed; read by parse() once the command runs, so that every message is in our words.
struct Typed {
  std::string model, directory;
  std::string target{"iree,xla"};
  std::string seq;
  std::string functions{"score"};
  std::string kv, kv_local, kv_storage, kv_dtype, batch, result;
  std::string layers;
  std::string dtype{"f32"};
  bool allow_overflow{};
  std::string weights{"safetensors"};
  std::string max_shard_size;
  std::string share;
  std::string max_memory{"512MiB"};
  std::string jobs;
  std::string print_after;
  std::string progress{"auto"};
};

template <class Value>
struct Choice {
  std::string_view name;
  Value value{};
};
constexpr Choice<Target> kTargets[] = {{.name = "iree", .value = Target::kIree},
                                       {.name = "xla", .value = Target::kXla}};

constexpr Choice<DType> kDTypes[] = {{.name = "f32", .value = DType::kF32},
                                     {.name = "bf16", .value = DType::kBF16},
                                     {.name = "f16", .value = DType::kF16}};

constexpr Choice<ResultKind> kResults[] = {{.name = "logits", .value = ResultKind::kLogits},
                                           {.name = "last-logits", .value = ResultKind::kLastLogits},
                                           {.name = "token", .value = ResultKind::kToken}};

constexpr Choice<bool> kLocals[] = {{.name = "same", .value = false}, {.name = "ring", .value = true}};

constexpr Choice<bool> kStorages[] = {{.name = "args", .value = false}, {.name = "globals", .value = true}};

template <class Value, size_t N>
Value choose(std::string_view option, std::string_view word, const Choice<Value> (&choices)[N]) {
  std::vector<std::string_view> names;
  for (const auto& choice : choices) {
    if (choice.name == word) return choice.value;
    names.push_back(choice.name);
  }
  wrong_usage("{}: '{}' is none of {}", option, printable(word), fmt::join(names, ", "));
}

std::string pass_names() {
  std::vector<std::string_view> names;
  for (const PassInfo& pass : pass_table()) names.push_back(pass.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::vector<std::string> parse_passes(std::string_view text) {
  std::vector<std::string> names = parse_list("--print-after", text);
  for (const std::string& name : names)
    if (std::ranges::none_of(pass_table(), [&name](const PassInfo& pass) { return pass.name == name; }))
      wrong_usage("--print-after: no pass '{}' (passes: {})", printable(name), pass_names());
  return names;
}

void parse_seq(std::string_view text, ExportOptions& options) {
  if (text != "dynamic") {
    for (const std::string& word : parse_list("--seq", text)) {
      if (word == "dynamic") wrong_usage("--seq: dynamic stands alone: it takes every length");
      options.seq.push_back(parse_integer("--seq", word, 1, kMaxSeq));
    }
    return;
  }
  options.dynamic_seq = true;
  if (std::ranges::find(options.targets, Target::kXla) != options.targets.end())
    wrong_usage(
        "--seq dynamic: XLA takes programs of fixed lengths only; give lengths, such as --seq 16,128 (shorter inputs "
        "are "
        "padded on the right), or --target iree");
}

std::string function_names() {
  std::vector<std::string_view> names;
  for (const FunctionInfo& row : function_table()) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

// none, concat, static, or static:C.
KvPolicy parse_kv(std::string_view word) {
  constexpr std::string_view kStatic = "static:";
  if (word == "none") return {};
  if (word == "concat") return {.extent = KvExtent::kConcat};
  if (word == "static") return {.extent = KvExtent::kStatic};
  if (word.starts_with(kStatic))
    return {.extent = KvExtent::kStatic, .capacity = parse_integer("--kv", word.substr(kStatic.size()), 1, kMaxSeq)};
  wrong_usage("--kv: '{}' is none of none, concat, static, static:N", printable(word));
}

// Options that say how caches are kept mean nothing without a function that has any.
void parse_functions(const Typed& typed, ExportOptions& options) {
  options.functions = parse_list("--functions", typed.functions);
  bool cached = false;
  for (const std::string& name : options.functions) {
    const auto row = std::ranges::find(function_table(), name, &FunctionInfo::name);
    if (row == function_table().end())
      wrong_usage("--functions: '{}' is none of {}", printable(name), function_names());
    if (std::ranges::count(options.functions, name) > 1) wrong_usage("--functions: '{}' stands twice", name);
    cached = cached || row->cached;
  }
  options.kv = parse_kv(!typed.kv.empty() ? typed.kv : cached ? "static" : "none");
  if (cached && options.kv.extent == KvExtent::kNone)
    wrong_usage("--kv none: only the function score does without a cache");
  for (const auto& [option, value] : {std::pair{"--kv", &typed.kv},
                                      {"--kv-local", &typed.kv_local},
                                      {"--kv-storage", &typed.kv_storage},
                                      {"--kv-dtype", &typed.kv_dtype},
                                      {"--result", &typed.result}})
    if (!cached && !value->empty() && *value != "none")
      wrong_usage("{}: no function with a cache is asked for (--functions: {})", option, typed.functions);
  if (!typed.kv_local.empty()) options.kv.ring = choose("--kv-local", typed.kv_local, kLocals);
  if (!typed.kv_storage.empty()) options.kv_globals = choose("--kv-storage", typed.kv_storage, kStorages);
  if (!typed.kv_dtype.empty()) options.kv.dtype = choose("--kv-dtype", typed.kv_dtype, kDTypes);
  if (!typed.result.empty()) options.result = choose("--result", typed.result, kResults);
  if (!typed.batch.empty()) options.batch = parse_integer("--batch", typed.batch, 1, kMaxBatch);
  const bool xla = std::ranges::find(options.targets, Target::kXla) != options.targets.end();
  if (xla && options.kv_globals)
    wrong_usage("--kv-storage globals: XLA has no globals; leave them in args, or choose --target iree");
  if (xla && options.kv.extent == KvExtent::kConcat)
    wrong_usage("--kv concat: XLA takes no caches that grow; use --kv static:N, or --target iree");
}

// The name of an archive format, or nothing for `none`.
std::string parse_weights(std::string_view word) {
  std::vector<std::string_view> names;
  for (const ArchiveFormat& format : archive_formats()) {
    if (format.name == word) return std::string(word);
    names.push_back(format.name);
  }
  if (word == "none") return {};
  wrong_usage("--weights: '{}' is none of {}, none", printable(word), fmt::join(names, ", "));
}

ExportOptions parse(const Typed& typed) {
  ExportOptions options;
  options.model_path = typed.model;
  options.directory = typed.directory;
  options.targets.clear();
  if (typed.model.empty()) wrong_usage("MODEL is empty");
  if (typed.directory.empty()) wrong_usage("-o: the directory's name is empty");
  for (const std::string& word : parse_list("--target", typed.target)) {
    const Target target = choose("--target", word, kTargets);
    if (std::ranges::find(options.targets, target) == options.targets.end()) options.targets.push_back(target);
  }
  if (!typed.seq.empty()) parse_seq(typed.seq, options);
  parse_functions(typed, options);
  if (!typed.layers.empty()) options.layers = parse_integer("--layers", typed.layers, 1, kMaxLayers);
  options.dtype = choose("--dtype", typed.dtype, kDTypes);
  options.allow_overflow = typed.allow_overflow;
  options.weights = parse_weights(typed.weights);
  if (!typed.max_shard_size.empty()) options.max_shard_bytes = parse_size("--max-shard-size", typed.max_shard_size);
  options.share = typed.share;
  if (!options.share.empty() && options.weights.empty())
    wrong_usage("--share: there is nothing to share with --weights none");
  options.max_memory_bytes = parse_size("--max-memory", typed.max_memory);
  if (!typed.jobs.empty()) options.jobs = static_cast<int>(parse_integer("--jobs", typed.jobs, 1, kMaxJobs));
  if (!typed.print_after.empty()) options.print_after = parse_passes(typed.print_after);
  return options;
}

uint64_t size_of(const std::string& directory, const std::string& file) {
  std::error_code error;
  const auto size = std::filesystem::file_size(std::filesystem::path(directory) / file, error);
  return error ? 0 : size;
}

struct Dump {
  std::string pass, hir;
};

Json to_json(const std::optional<RoundingSummary>& rounding) {
  if (!rounding) return nullptr;
  return {{"values", rounding->values},
          {"inexact", rounding->inexact},
          {"largest_error", rounding->largest_error},
          {"parameter", rounding->parameter}};
}

Json to_json(const ExportOptions& options, const ExportReport& report, const std::vector<Dump>& dumps,
             const Warnings& warnings) {
  Json files = Json::array();
  for (const std::string& file : report.files)
    files.push_back({{"file", file}, {"bytes", size_of(options.directory, file)}});
  Json commands = Json::array();
  for (const auto& command : report.manifest.commands)
    commands.push_back({{"what", command.what}, {"line", command.line}});
  Json out = {{"directory", options.directory},
              {"architecture", report.manifest.model.architecture},
              {"seq", report.seq.empty() ? Json("dynamic") : Json(report.seq)},
              {"max_seq", report.max_seq},
              {"files", std::move(files)},
              {"weight_bytes", report.weight_bytes},
              {"rounding", to_json(summarise_rounding(report.manifest.parameters))},
              {"seconds",
               {{"trace", report.trace_seconds},
                {"passes", report.pass_seconds},
                {"emit", report.emit_seconds},
                {"weights", report.weights_seconds},
                {"total", report.total_seconds}}},
              {"commands", std::move(commands)},
              {"warnings", warnings.lines}};
  if (!dumps.empty()) out["dumps"] = Json::array();
  for (const Dump& dump : dumps) out["dumps"].push_back({{"pass", dump.pass}, {"hir", dump.hir}});
  return out;
}

// A path as a shell takes it.
std::string shell_word(const std::string& path) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+=:,@%";
  if (!path.empty() && path.find_first_not_of(kPlain) == std::string::npos) return path;
  std::string out = "'";
  for (const char c : path) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

// `weights in bf16: 90.3 % of 134515008 were rounded, by at most 0.0039 ('blk.0.attn_q.weight')`.
std::string rounding_text(std::string_view dtype, const RoundingSummary& rounding) {
  const double percent = 100.0 * static_cast<double>(rounding.inexact) / static_cast<double>(rounding.values);
  std::string out = fmt::format("weights in {}: {:.1f} % of {} were rounded", dtype, percent, rounding.values);
  if (rounding.inexact > 0)
    out += fmt::format(", by at most {:.2g} ('{}')", rounding.largest_error, printable(rounding.parameter));
  return out + "\n";
}

std::string summary(const ExportOptions& options, const ExportReport& report, bool seq_given) {
  std::vector<std::vector<std::string>> rows;
  uint64_t total = 0;
  for (const std::string& file : report.files) {
    const uint64_t size = size_of(options.directory, file);
    total += size;
    rows.push_back({file, bytes_text(size)});
  }
  std::string out = fmt::format("exported {} to {}: {} files, {}, in {}\n",
                                printable(report.manifest.model.architecture), printable(options.directory),
                                report.files.size(), bytes_text(total), duration_text(report.total_seconds));
  out += columns(rows, "  ", {1});
  if (!seq_given) out += fmt::format("programs are for {} tokens; --seq N changes that\n", report.max_seq);
  if (const auto rounding = summarise_rounding(report.manifest.parameters))
    out += rounding_text(name(options.dtype), *rounding);
  out += "next:\n";
  const auto& tokenizer = report.manifest.tokenizer;
  const bool chat = tokenizer && tokenizer->chat_file;
  out += fmt::format("  headrace generate {} {}\n", shell_word(options.directory),
                     chat ? "--chat" : "--tokens ID,ID,... --max-tokens 16");
  if (!report.manifest.commands.empty()) out += fmt::format("  cd {}\n", shell_word(options.directory));
  for (const auto& command : report.manifest.commands) out += fmt::format("  {}\n", command.line);
  return out;
}

Status run_export(const Typed& typed, Output& output) {
  const ExportOptions options = parse(typed);
  const ProgressStyle wanted = progress_style(typed.progress);
  const ProgressStyle style = output.quiet() ? ProgressStyle::kNone : wanted;
  const InterruptGuard interrupt;
  Progress progress({.style = style, .columns = terminal_columns(), .write = [&output](std::string_view bytes) {
                       output.diagnostic(bytes);
                     }});
  std::vector<Dump> dumps;
  const ExportHooks hooks{
      .progress = [&progress](const ExportProgress& p) { progress.update(p.bytes_done, p.bytes_total); },
      .dump =
          [&](std::string_view pass, std::string_view hir) {
            if (output.json()) {
              dumps.push_back({.pass = std::string(pass), .hir = std::string(hir)});
            } else {
              output.text(fmt::format("// after {}\n{}", pass, hir));
            }
          },
      .stop = interrupt.token()};
  Warnings warnings;
  const auto report = export_model(options, hooks, warnings);
  progress.finish();
  output.warnings(warnings);
  if (!report) return fail(report.error());
  const std::string text = summary(options, *report, !typed.seq.empty());
  if (output.json()) {
    output.document(to_json(options, *report, dumps, warnings));
  } else if (!options.print_after.empty()) {
    output.note("{}", "exported; standard output holds the module's text after the passes asked for");
  } else if (!output.quiet()) {
    output.text(text);
  }
  return {};
}

}  // namespace

namespace {

void declare_cache_options(CLI::App& app, Typed& typed) {
  app.add_option(
         "--functions", typed.functions,
         fmt::format("What the programs can be asked for, comma-separated: {} (default: score)", function_names()))
      ->type_name("LIST");
  app.add_option(
         "--kv", typed.kv,
         fmt::format("How keys and values are kept between calls: static:N, room for N positions (default: {}, or "
                     "the model's context if shorter), concat, growing with the text (iree), or none",
                     kDefaultCapacity))
      ->type_name("HOW");
  app.add_option("--kv-local", typed.kv_local,
                 "What layers with a sliding window keep: same as the others (default), or ring, only the window")
      ->type_name("WHAT");
  app.add_option("--kv-storage", typed.kv_storage,
                 "Where caches live: args, arguments and results (default), or globals of the module (iree)")
      ->type_name("WHERE");
  app.add_option("--kv-dtype", typed.kv_dtype, "What caches are stored as: f32 (default), bf16, f16")
      ->type_name("TYPE");
  app.add_option("--batch", typed.batch, "Texts in one call, each with its own length and position (default: 1)")
      ->type_name("N");
  app.add_option("--result", typed.result,
                 "What functions with caches return: last-logits, of the last token (default), logits, of every token, "
                 "or token, the likeliest next one")
      ->type_name("WHAT");
}

}  // namespace

Run declare_export(CLI::App& app) {
  auto typed = std::make_shared<Typed>();
  app.add_option("MODEL", typed->model, "A GGUF file (of a split model, any part), or a directory with safetensors")
      ->required()
      ->type_name("");
  app.add_option(
         "-o,--output", typed->directory,
         "Directory of the export: made if it is not there; an earlier export in it is replaced as the last step")
      ->required()
      ->type_name("DIR");
  app.add_option("--target", typed->target, "Programs to write, comma-separated: iree, xla (default: both)")
      ->type_name("LIST");
  app.add_option(
         "--seq", typed->seq,
         fmt::format("Tokens the programs take: one length or several, comma-separated, or dynamic: any length, "
                     "for iree alone (default: {}, or the model's context if shorter)",
                     kDefaultSeq))
      ->type_name("LIST");
  declare_cache_options(app, *typed);
  app.add_option("--layers", typed->layers, "Only the first so many layers, then the output (default: all)")
      ->type_name("N");
  app.add_option("--dtype", typed->dtype,
                 "What matmul and embedding weights are stored as: f32 (default), bf16, f16; the rest stays f32")
      ->type_name("TYPE");
  app.add_flag("--allow-overflow", typed->allow_overflow,
               "Store finite weights beyond the type's range as infinities instead of refusing them");
  app.add_option("--weights", typed->weights,
                 "safetensors (default), irpa (IREE's own), or none: programs and contract only")
      ->type_name("FORM");
  app.add_option("--max-shard-size", typed->max_shard_size,
                 "Splits the weights into files of at most so much data, as in 4GB (default: one file)")
      ->type_name("SIZE");
  app.add_option("--share", typed->share, "An export of the same weights: its archive is linked, not written again")
      ->type_name("DIR");
  app.add_option("--max-memory", typed->max_memory, "Bound on memory, as in 512MiB (default), 2G, 500MB")
      ->type_name("SIZE");
  app.add_option("--jobs", typed->jobs, "Threads (default: one for each core)")->type_name("N");
  app.add_option(
         "--print-after", typed->print_after,
         fmt::format("Module text after these passes, comma-separated, on standard output instead of the summary: {}",
                     pass_names()))
      ->type_name("PASS");
  app.add_option("--progress", typed->progress, "auto (default: a bar on a terminal, else plain), plain, none")
      ->type_name("MODE");
  return [typed](Output& output) { return run_export(*typed, output); };
}

}  // namespace headrace::tools
