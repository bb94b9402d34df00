#include "exporter/contract.h"

#include <algorithm>
#include <filesystem>
#include <set>

#include "base/version.h"
#include "passes/combine.h"
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
  if (parts.chat) out.chat_file = parts.chat->file;
  return out;
}

ManifestArgument argument_of(const std::string& name, const Type& type, bool is_state) {
  return {
      .name = name, .kind = is_state ? ValueKind::kCache : ValueKind::kData, .dtype = type.dtype, .shape = type.shape};
}

// Those of `values` that the function has.
std::map<std::string, int64_t> values_of(const std::vector<ManifestSymbol>& symbols, const SymbolValues& values) {
  std::map<std::string, int64_t> out;
  for (const ManifestSymbol& s : symbols)
    if (const auto value = values.find(s.name); value != values.end()) out.insert(*value);
  return out;
}

std::string iree_name(const EmittedIree& iree, const Function& f, const SymbolValues& values) {
  return iree.symbols.size() == 1 || iree.unchanged.contains(f.name) ? f.name : f.name + specialisation_suffix(values);
}

ManifestFunction function_of(const ContractParts& parts, const Function& f) {
  ManifestFunction out{.name = f.name};
  const auto used = symbols_of(f);
  for (const Symbol& s : parts.module.symbols)
    if (used.contains(s.name)) out.symbols.push_back({.name = s.name, .min = s.min, .max = s.max});
  const auto inputs = f.graph->input_types();
  const auto results = f.graph->result_types();
  const auto in_state = [&](size_t i, uint32_t StatePair::*side) {
    return std::any_of(f.state.begin(), f.state.end(), [&](const StatePair& s) { return s.*side == i; });
  };
  for (size_t i = 0; i < inputs.size(); ++i)
    out.arguments.push_back(argument_of(f.arguments[i], inputs[i], in_state(i, &StatePair::argument)));
  for (size_t i = 0; i < results.size(); ++i)
    out.results.push_back(argument_of(f.results[i], results[i], in_state(i, &StatePair::result)));
  for (const StatePair& s : f.state)
    if (s.argument != StatePair::kNew) out.state.push_back({.argument = s.argument, .result = s.result});
  if (parts.iree)
    for (const SymbolValues& values : parts.iree->symbols) {
      out.targets.iree.push_back({.file = parts.iree->text.file,
                                  .entry = fmt::format("{}.{}", parts.module.name, iree_name(*parts.iree, f, values)),
                                  .symbols = values_of(out.symbols, values),
                                  .state_in_globals = parts.options.kv_globals && !f.state.empty()});
      if (parts.iree->unchanged.contains(f.name)) break;
    }
  for (const EmittedXla& program : parts.xla)
    if (program.function == f.name)
      out.targets.xla.push_back({.file = program.text.file,
                                 .entry = "main",
                                 .symbols = values_of(out.symbols, program.symbols),
                                 .arguments = f.arguments,
                                 .parameters = program.parameters,
                                 .donations = out.state});
  return out;
}

// `--input=1x64xi32=0` for each argument, at the sizes of the program; where they are open, any will do.
std::string zero_inputs(const Function& f, SymbolValues values, const std::vector<Symbol>& symbols, bool globals) {
  for (const Symbol& s : symbols) values.emplace(s.name, std::min(s.max, kDefaultSeq));
  std::string out;
  const auto types = f.graph->input_types();
  for (size_t i = 0; i < types.size(); ++i) {
    const Type& type = types[i];
    const bool in_global =
        globals && std::any_of(f.state.begin(), f.state.end(), [&](const StatePair& s) { return s.argument == i; });
    if (in_global) continue;
    out += " --input=";
    for (const Dim& dim : substitute(type.shape, values)) out += to_string(dim) + "x";
    out += fmt::format("{}=0", name(type.dtype));
  }
  return out;
}

std::optional<ManifestKv> kv_of(const ContractParts& parts) {
  const KvLayout& layout = parts.layout;
  if (layout.layers.empty()) return std::nullopt;
  ManifestKv out{.extent = layout.policy.extent == KvExtent::kConcat ? "concat" : "static",
                 .capacity = layout.policy.capacity,
                 .local = layout.policy.ring ? "ring" : "same",
                 .storage = parts.options.kv_globals ? "globals" : "args",
                 .dtype = layout.policy.dtype,
                 .batch = layout.batch,
                 .bytes_per_token = layout.bytes_per_token(),
                 .fixed_bytes = layout.fixed_bytes()};
  for (const CacheLayer& layer : layout.layers) {
    ManifestKvLayer row{.layer = layer.layer,
                        .heads = layer.heads,
                        .key_width = layer.key_width,
                        .value_width = layer.value_width,
                        .window = layer.window,
                        .slots = std::nullopt};
    if (!layout.grows(layer)) row.slots = layout.slots(layer);
    out.layers.push_back(row);
  }
  return out;
}

// Lines that a user can paste in the export's directory.
std::vector<ManifestCommand> commands_of(const ContractParts& parts) {
  if (!parts.iree) return {};
  const std::string compiled = std::filesystem::path(parts.iree->text.file).replace_extension(".vmfb").string();
  std::vector<ManifestCommand> out{
      {.what = "compile for this CPU with IREE",
       .line = fmt::format(
           "iree-compile --iree-hal-target-device=local --iree-hal-local-target-device-backends=llvm-cpu "
           "--iree-llvmcpu-target-cpu=host --iree-opt-level=O2 --iree-llvmcpu-distribution-size=32 {} -o {}",
           parts.iree->text.file, compiled)}};
  if (parts.archives.empty()) return out;
  std::string archives;
  for (const ManifestArchive& archive : parts.archives)
    archives += fmt::format(" --parameters={}={}", archive.scope, archive.file);
  for (const Function& f : parts.module.functions) {
    const bool caches_by_hand = !f.state.empty() && f.state.front().argument != StatePair::kNew;
    if (f.visibility != Visibility::kPublic || caches_by_hand) continue;  // a line of sixty inputs helps nobody
    const SymbolValues& values = parts.iree->symbols.front();
    out.push_back({.what = fmt::format("run {} with IREE, on zeros", f.name),
                   .line = fmt::format("iree-run-module --device=local-task --module={}{} --function={}{}", compiled,
                                       archives, iree_name(*parts.iree, f, values),
                                       zero_inputs(f, values, parts.module.symbols, parts.options.kv_globals))});
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
  const auto& lengths = parts.options.seq;
  out.options = {{"seq", parts.options.dynamic_seq ? ManifestValue(std::string("dynamic")) : ManifestValue(lengths)},
                 {"target", targets},
                 {"dtype", std::string(name(parts.options.dtype))},
                 {"weights", parts.options.weights.empty() ? "none" : parts.options.weights}};
  if (parts.options.max_shard_bytes != 0)
    out.options["max_shard_bytes"] = static_cast<int64_t>(parts.options.max_shard_bytes);
  if (parts.options.layers) out.options["layers"] = *parts.options.layers;
  out.source = source_of(parts.checkpoint);
  out.kv = kv_of(parts);
  if (parts.options.kv_globals && parts.iree) out.requires_features.emplace_back(kFeatureGlobals);
  out.model.name = parts.module.name;
  out.model.architecture = std::string(parts.model.architecture());
  for (const ConfigEntry& entry : parts.model.config())
    out.model.configuration.push_back({.key = entry.name, .value = entry.value, .origin = entry.origin});
  out.tokenizer = tokenizer_of(parts);
  out.module_file = parts.hir.file;
  for (const Function& f : parts.module.functions)
    if (f.visibility == Visibility::kPublic) out.functions.push_back(function_of(parts, f));
  out.parameters = std::move(parts.parameters);
  out.archives = parts.archives;
  out.texts.push_back(parts.hir);
  if (parts.pieces) out.texts.push_back(*parts.pieces);
  if (parts.chat && out.tokenizer) out.texts.push_back(*parts.chat);
  if (parts.iree) out.texts.push_back(parts.iree->text);
  for (const EmittedXla& program : parts.xla) out.texts.push_back(program.text);
  out.commands = commands_of(parts);
  return out;
}

}  // namespace headrace
