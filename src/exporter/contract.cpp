#include "exporter/contract.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/version.h"
#include "stablehlo/emitter.h"

namespace headrace {

namespace {

ManifestSource source_of(const Checkpoint& checkpoint) {
  ManifestSource out{.container = checkpoint.kind == ContainerKind::kGguf ? "gguf" : "safetensors",
                     .files = {},
                     .header_xxh3 = checkpoint.header_xxh3};
  for (const SourceFile& file : checkpoint.files)
    out.files.push_back({.name = std::filesystem::path(file.path).filename().string(), .size_bytes = file.size_bytes});
  return out;
}

std::optional<ManifestTokenizer> tokenizer_of(const ContractParts& parts) {
  const auto& facts = parts.tokenizer;
  if (!facts) return std::nullopt;
  ManifestTokenizer out{.kind = facts->kind,
                        .vocabulary = facts->vocabulary,
                        .bos = facts->bos,
                        .eos = facts->eos,
                        .add_bos = facts->add_bos};
  if (parts.pieces) out.pieces_file = parts.pieces->file;
  return out;
}

ManifestArgument argument_of(const std::string& name, const Type& type, bool is_state) {
  return {
      .name = name, .kind = is_state ? ValueKind::kCache : ValueKind::kData, .dtype = type.dtype, .shape = type.shape};
}

// The symbols that a function's arguments carry.
std::set<std::string> symbols_of(const Function& f) {
  std::set<std::string> out;
  for (const Type& type : f.graph->input_types())
    for (const Dim& dim : type.shape)
      for (const auto& term : dim.terms()) out.insert(term.first);
  return out;
}

ManifestFunction function_of(const ContractParts& parts, const Function& f) {
  ManifestFunction out{.name = f.name};
  const auto used = symbols_of(f);
  std::map<std::string, int64_t> values;
  for (const Symbol& s : parts.module.symbols) {
    if (!used.contains(s.name)) continue;
    out.symbols.push_back({.name = s.name, .min = s.min, .max = s.max});
    if (const auto value = parts.symbols.find(s.name); value != parts.symbols.end()) values.insert(*value);
  }
  const auto inputs = f.graph->input_types();
  const auto results = f.graph->result_types();
  const auto in_state = [&](size_t i, uint32_t StatePair::*side) {
    return std::any_of(f.state.begin(), f.state.end(), [&](const StatePair& s) { return s.*side == i; });
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    out.arguments.push_back(argument_of(f.arguments[i], inputs[i], in_state(i, &StatePair::argument)));
  for (size_t i = 0; i < results.size(); ++i)
    out.results.push_back(argument_of(f.results[i], results[i], in_state(i, &StatePair::result)));
  for (const StatePair& s : f.state) out.state.push_back({.argument = s.argument, .result = s.result});
  if (parts.iree)
    out.targets.iree = ManifestIree{
        .file = parts.iree->file, .entry = fmt::format("{}.{}", parts.module.name, f.name), .symbols = values};
  for (const EmittedXla& program : parts.xla)
    if (program.function == f.name)
      out.targets.xla.push_back({.file = program.text.file,
                                 .entry = "main",
                                 .symbols = values,
                                 .arguments = f.arguments,
                                 .parameters = program.parameters,
                                 .donations = out.state});
  return out;
}

// `--input=1x64xi32=0` for each argument, at the sizes of the emitted program.
std::string zero_inputs(const ContractParts& parts, const Function& f) {
  std::string out;
  for (const Type& type : f.graph->input_types()) {
    out += " --input=";
    for (const Dim& dim : substitute(type.shape, parts.symbols)) out += to_string(dim) + "x";
    out += fmt::format("{}=0", name(type.dtype));
  }
  return out;
}

// Lines that a user can paste in the export's directory.
std::vector<ManifestCommand> commands_of(const ContractParts& parts) {
  if (!parts.iree) return {};
  const std::string compiled = std::filesystem::path(parts.iree->file).replace_extension(".vmfb").string();
  std::vector<ManifestCommand> out{
      {.what = "compile for this CPU with IREE",
       .line =
           fmt::format("iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu "
                       "--iree-llvmcpu-target-cpu=host --iree-opt-level=O2 {} -o {}",
                       parts.iree->file, compiled)}};
  if (!parts.archive) return out;
  for (const Function& f : parts.module.functions) {
    if (f.visibility != Visibility::kPublic) continue;
    out.push_back(
        {.what = fmt::format("run {} with IREE, on zeros", f.name),
         .line = fmt::format("iree-run-module --device=local-task --module={} --parameters={}={} --function={}{}",
                             compiled, parts.archive->scope, parts.archive->file, f.name, zero_inputs(parts, f))});
  }
  return out;
}

}  // namespace

Manifest make_contract(ContractParts parts) {
  Manifest out;
  out.tool.version = std::string(kVersion);
  std::vector<std::string> targets;
  for (const Target t : parts.options.targets) targets.emplace_back(t == Target::kIree ? "iree" : "xla");
  std::sort(targets.begin(), targets.end());
  const bool archived = parts.options.weights == WeightsForm::kSafetensors;
  out.options = {{"seq", parts.options.seq},
                 {"target", targets},
                 {"dtype", std::string(name(parts.options.dtype))},
                 {"weights", std::string(archived ? "safetensors" : "none")}};
  if (parts.options.layers) out.options["layers"] = *parts.options.layers;
  out.source = source_of(parts.checkpoint);
  out.model.name = parts.module.name;
  out.model.architecture = std::string(parts.model.architecture());
  for (const ConfigEntry& entry : parts.model.config())
    out.model.configuration.push_back({.key = entry.name, .value = entry.value, .origin = entry.origin});
  out.tokenizer = tokenizer_of(parts);
  out.module_file = parts.hir.file;
  for (const Function& f : parts.module.functions)
    if (f.visibility == Visibility::kPublic) out.functions.push_back(function_of(parts, f));
  out.parameters = std::move(parts.parameters);
  if (parts.archive) out.archives.push_back(*parts.archive);
  out.texts.push_back(parts.hir);
  if (parts.pieces) out.texts.push_back(*parts.pieces);
  if (parts.iree) out.texts.push_back(*parts.iree);
  for (const EmittedXla& program : parts.xla) out.texts.push_back(program.text);
  out.commands = commands_of(parts);
  return out;
}

}  // namespace headrace
