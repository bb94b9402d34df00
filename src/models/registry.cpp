#include <algorithm>

#include "formats/meta.h"
#include "models/model.h"

namespace headrace {

#define HR_MODEL(name, summary, stem)                                                             \
  Result<std::unique_ptr<Model>> make_##stem(const ModelSource&, const ModelOptions&, Warnings&); \
  std::span<const HfDialect> stem##_dialects();
#include "models/models.def"

std::span<const ArchitectureInfo> architecture_table() {
  static constexpr ArchitectureInfo kTable[] = {
#define HR_MODEL(name, summary, stem) {name, summary, make_##stem, stem##_dialects},
#include "models/models.def"
  };
  return kTable;
}

namespace {

constexpr size_t kShownBytes = 200;  // of a name that is unknown

Result<std::unique_ptr<Model>> make_gguf_model(const Checkpoint& checkpoint, const ModelOptions& options,
                                               Warnings& warnings) {
  constexpr std::string_view kKey = "general.architecture";
  HR_TRY(const auto name, meta_string(checkpoint, kKey));
  std::vector<std::string_view> supported;
  for (const ArchitectureInfo& row : architecture_table()) {
    if (row.name == name) return row.make(ModelSource(checkpoint, row.name), options, warnings);
    supported.push_back(row.name);
  }
  const std::string list = fmt::format("supported: {}", fmt::join(supported, ", "));
  if (!name) return fail(ErrorCode::kArchitecture, "key '{}' is missing; {}", kKey, list);
  return fail(ErrorCode::kArchitecture, "architecture '{}' is not supported; {}", name->substr(0, kShownBytes), list);
}

// A copy of the metadata in which absent keys have the dialect's defaults, and null ones are absent: to the classes of
// transformers null is a value of its own ("none"), not a call for the default.
struct Filled {
  Checkpoint checkpoint;
  std::set<std::string, std::less<>> defaulted;
};
Filled with_defaults(const Checkpoint& checkpoint, const HfPlace& place, const HfDialect& dialect) {
  constexpr std::string_view kTied = "tie_word_embeddings";
  Filled out{.checkpoint = checkpoint, .defaulted = {}};
  auto& metadata = out.checkpoint.metadata;
  // A wrapper's own flag holds for a text model that has none.
  if (const auto outer = metadata.find(kTied); outer != metadata.end() && !place.prefix.empty())
    metadata.emplace(fmt::format("{}{}", place.prefix, kTied), outer->second);
  const std::string parameters = fmt::format("{}rope_parameters.", place.prefix);
  const auto rope = metadata.lower_bound(parameters);
  const bool has_rope = rope != metadata.end() && rope->first.starts_with(parameters);
  for (const HfValue& fallback : dialect.defaults) {
    // The older spelling of what the newer section holds.
    if (has_rope && fallback.key.starts_with("rope_")) continue;
    const auto [it, fresh] = metadata.emplace(fmt::format("{}{}", place.prefix, fallback.key), meta_value(fallback));
    if (fresh) out.defaulted.insert(it->first);
  }
  std::erase_if(metadata, [](const auto& item) { return std::holds_alternative<std::monostate>(item.second.value); });
  return out;
}

struct Match {
  const ArchitectureInfo* row{};
  const HfDialect* dialect{};
};
Result<Match> find_dialect(const HfPlace& place) {
  std::vector<std::string_view> supported;
  for (const ArchitectureInfo& row : architecture_table())
    for (const HfDialect& dialect : row.dialects()) {
      if (dialect.model_type == place.model_type) return Match{.row = &row, .dialect = &dialect};
      supported.push_back(dialect.model_type);
    }
  return fail(ErrorCode::kArchitecture, "{}model_type '{}' is not supported; supported: {}", place.prefix,
              place.model_type.substr(0, kShownBytes), fmt::join(supported, ", "));
}

Result<std::unique_ptr<Model>> make_hf_model(const Checkpoint& checkpoint, const ModelOptions& options,
                                             Warnings& warnings) {
  HR_TRY(const HfPlace place, find_hf_config(checkpoint));
  HR_TRY(const Match match, find_dialect(place));
  HR_TRY(auto names, hf_tensor_names(checkpoint, match.dialect->names));
  const Filled filled = with_defaults(checkpoint, place, *match.dialect);
  if (!filled.defaulted.empty())
    warnings.add("config.json does not say {}: the defaults of transformers' {} are used",
                 fmt::join(filled.defaulted, ", "), match.dialect->class_name);
  return match.row->make(
      ModelSource(filled.checkpoint, filled.defaulted, *match.dialect, place.prefix, std::move(names)), options,
      warnings);
}

}  // namespace

Result<std::unique_ptr<Model>> make_model(const Checkpoint& checkpoint, const ModelOptions& options,
                                          Warnings& warnings) {
  switch (checkpoint.kind) {
    case ContainerKind::kGguf:
      return make_gguf_model(checkpoint, options, warnings);
    case ContainerKind::kSafetensors:
      return make_hf_model(checkpoint, options, warnings);
  }
  throw InternalError("a container without a way to its model");
}

}  // namespace headrace
