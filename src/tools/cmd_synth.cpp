#include <algorithm>
#include <limits>
#include <memory>

#include "synth/synth.h"
#include "tools/command.h"
#include "tools/interrupt.h"
#include "tools/progress.h"
#include "tools/text.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

struct Typed {
  std::string preset, output, set, split, seed, types, format{"gguf"}, fill{"zeros"}, progress{"auto"};
};

template <class Rows, class Name>
std::string names_of(const Rows& rows, const Name& name) {
  std::vector<std::string> out;
  for (const auto& row : rows) out.emplace_back(name(row));
  return fmt::format("{}", fmt::join(out, ", "));
}

std::string preset_names() {
  return names_of(synth_presets(), [](const SynthShape& shape) { return shape.preset; });
}
std::string field_names() {
  return names_of(synth_fields(), [](const SynthField& field) { return field.name; });
}

SynthShape parse_preset(std::string_view name) {
  for (const SynthShape& shape : synth_presets())
    if (shape.preset == name) return shape;
  wrong_usage("no preset '{}' (presets: {})", printable(name), preset_names());
}

// FIELD=N[,FIELD=N...]
void change(SynthShape& shape, std::string_view text) {
  for (const std::string& word : parse_list("--set", text)) {
    const size_t equals = word.find('=');
    const std::string_view name = std::string_view(word).substr(0, equals);
    const auto fields = synth_fields();
    const auto field = std::ranges::find(fields, name, &SynthField::name);
    if (equals == std::string::npos || field == fields.end())
      wrong_usage("--set: '{}': expected FIELD=N with one of {}", printable(word), field_names());
    shape.*(field->field) = parse_integer("--set", std::string_view(word).substr(equals + 1), 0, int64_t{1} << 28);
  }
}

// A name of the other format is more likely a slip than meant.
void check_output(SynthFormat format, std::string_view path) {
  if (format == SynthFormat::kGguf && !path.ends_with(".gguf"))
    wrong_usage("-o: '{}': expected a name that ends in .gguf (or --format safetensors and a directory)",
                printable(path));
  if (format != SynthFormat::kSafetensors) return;
  if (path.empty() || path.ends_with(".gguf") || path.ends_with(".safetensors"))
    wrong_usage("-o: '{}': expected the name of a directory", printable(path));
}

SynthOptions parse(const Typed& typed) {
  SynthOptions options{.shape = parse_preset(typed.preset), .types = typed.types};
  if (!typed.set.empty()) change(options.shape, typed.set);
  if (typed.fill != "zeros" && typed.fill != "random")
    wrong_usage("--fill: '{}' is none of zeros, random", printable(typed.fill));
  options.fill = typed.fill == "zeros" ? SynthFill::kZeros : SynthFill::kRandom;
  if (!typed.seed.empty())
    options.seed = static_cast<uint64_t>(parse_integer("--seed", typed.seed, 0, std::numeric_limits<int64_t>::max()));
  if (!typed.split.empty()) options.split_bytes = parse_size("--split", typed.split);
  if (typed.format != "gguf" && typed.format != "safetensors")
    wrong_usage("--format: '{}' is none of gguf, safetensors", printable(typed.format));
  options.format = typed.format == "gguf" ? SynthFormat::kGguf : SynthFormat::kSafetensors;
  const auto types = synth_types(options.format);
  if (!typed.types.empty() && std::ranges::find(types, typed.types) == types.end())
    wrong_usage("--types: '{}' is none of {}", printable(typed.types), fmt::join(types, ", "));
  check_output(options.format, typed.output);
  return options;
}

Status run_synth(const Typed& typed, Output& output) {
  const SynthOptions options = parse(typed);
  const ProgressStyle wanted = progress_style(typed.progress);
  const bool writes = options.fill != SynthFill::kZeros;
  const ProgressStyle style = output.quiet() || !writes ? ProgressStyle::kNone : wanted;
  const InterruptGuard interrupt;
  Progress progress({.style = style, .columns = terminal_columns(), .write = [&output](std::string_view bytes) {
                       output.diagnostic(bytes);
                     }});
  const auto hear = [&](uint64_t done, uint64_t total) {
    progress.update(done, total);
    return !interrupt.token().stop_requested();
  };
  const auto report = write_synth(options, typed.output, hear);
  progress.finish();
  if (!report) return fail(report.error());
  if (output.json()) {
    output.document({{"files", report->files},
                     {"bytes", report->total_bytes},
                     {"parameters", report->parameters},
                     {"tensors", report->tensors}});
  } else if (!output.quiet()) {
    output.text(fmt::format("{} weights in {} tensors, {} in {} {}{}\n", count_text(report->parameters),
                            report->tensors, bytes_text(report->total_bytes), report->files.size(),
                            report->files.size() == 1 ? "file" : "files",
                            options.fill == SynthFill::kZeros ? ", which are holes and take no space" : ""));
    for (const std::string& file : report->files) output.text("  " + printable(file) + "\n");
  }
  return {};
}

}  // namespace

Run declare_synth(CLI::App& app) {
  auto typed = std::make_shared<Typed>();
  app.add_option("PRESET", typed->preset, "The shape: " + preset_names())->required()->type_name("");
  app.add_option("-o,--output", typed->output, "The file, which ends in .gguf; the directory of --format safetensors")
      ->required()
      ->type_name("PATH");
  app.add_option("--format", typed->format,
                 "gguf (default), or safetensors: a directory with config.json, as transformers writes it")
      ->type_name("FORMAT");
  app.add_option("--set", typed->set, "Changes to the shape, as in layers=2,vocabulary=1000; fields: " + field_names())
      ->type_name("FIELD=N,...");
  app.add_option(
         "--types", typed->types,
         "GGUF: block type of the matrices, or llama.cpp's mix Q4_K_M (default); norms are F32. Safetensors: BF16 "
         "(default), F16, F32, of all tensors")
      ->type_name("TYPE");
  app.add_option("--fill", typed->fill, "zeros (default: holes that take no space), or random")->type_name("FILL");
  app.add_option("--seed", typed->seed, "Of random weights (default: 1)")->type_name("N");
  app.add_option("--split", typed->split, "Splits the checkpoint into files of at most so much data, as in 40GB")
      ->type_name("SIZE");
  app.add_option("--progress", typed->progress, "auto (default: a bar on a terminal, else plain), plain, none")
      ->type_name("MODE");
  return [typed](Output& output) { return run_synth(*typed, output); };
}

}  // namespace headrace::tools
