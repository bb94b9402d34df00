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
  std::vector<std::string> said;  // those of them worth a warning: all but flags that mean "none"
};
Filled with_defaults(const Checkpoint& checkpoint, const HfPlace& place, const HfDialect& dialect) {
  constexpr std::string_view kTied = "tie_word_embeddings";
  Filled out{.checkpoint = checkpoint, .defaulted = {}, .said = {}};
  auto& metadata = out.checkpoint.metadata;
  // A wrapper's own flag holds for a text model that has none.
  if (const auto outer = metadata.find(kTied); outer != metadata.end() && !place.prefix.empty())
    metadata.emplace(fmt::format("{}{}", place.prefix, kTied), outer->second);
  const bool has_rope = meta_section(checkpoint, place.prefix + "rope_parameters.") != nullptr;
  for (const HfValue& fallback : dialect.defaults) {
    if (has_rope && fallback.is_older_rope) continue;
    const auto [it, fresh] = metadata.emplace(fmt::format("{}{}", place.prefix, fallback.key), meta_value(fallback));
    if (fresh) out.defaulted.insert(it->first);
    const auto* flag = std::get_if<bool>(&fallback.value);
    if (fresh && (flag == nullptr || *flag)) out.said.push_back(it->first);
  }
  const auto is_word_wanted = [&](std::string_view key) {
    return std::any_of(dialect.only.begin(), dialect.only.end(), [&](const HfValue& only) {
      return std::holds_alternative<std::string_view>(only.value) && key == place.prefix + std::string(only.key);
    });
  };
  std::erase_if(metadata, [&](const auto& item) {
    return std::holds_alternative<std::monostate>(item.second.value) && !is_word_wanted(item.first);
  });
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
  return fail(ErrorCode::kArchitecture, "{}model_type {} is not supported; supported: {}", place.prefix,
              describe({place.model_type}), fmt::join(supported, ", "));
}

Result<std::unique_ptr<Model>> make_hf_model(const Checkpoint& checkpoint, const ModelOptions& options,
                                             Warnings& warnings) {
  HR_TRY(const HfPlace place, find_hf_config(checkpoint));
  HR_TRY(const Match match, find_dialect(place));
  HR_TRY(auto names, hf_tensor_names(checkpoint, match.dialect->names));
  const Filled filled = with_defaults(checkpoint, place, *match.dialect);
  if (!filled.said.empty())
    warnings.add("config.json does not say {}: the defaults of transformers' {} are used", fmt::join(filled.said, ", "),
                 match.dialect->class_name);
  if (!place.prefix.empty())
    warnings.add("config.json is of a model around a text model: the text model alone, '{}', is read",
                 place.model_type);
  if (const std::string* map = meta_section(filled.checkpoint, "auto_map.AutoModel"))
    warnings.add(
        "key '{}' names code that comes with the checkpoint, which is not run: the model is taken for a plain '{}'",
        *map, place.model_type);
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
