// Builds the manifest of an export from what its parts produced. Private to src/exporter.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "exporter/export.h"
#include "exporter/functions.h"
#include "tokenizer/pieces.h"

namespace headrace {

// One emitted xla program.
struct EmittedXla {
  std::string function;
  SymbolValues symbols;  // what it is specialised for
  ManifestText text;
  std::vector<std::string> parameters;
};

// The emitted iree module: functions for each of `symbols`, named with passes/combine's suffix when there are several,
// but for `unchanged`, which stand once.
struct EmittedIree {
  std::vector<SymbolValues> symbols;
  std::set<std::string> unchanged;
  ManifestText text;
};

struct ContractParts {
  const ExportOptions& options;
  const Checkpoint& checkpoint;
  const Model& model;
  const Module& module;  // as the interpreter runs it
  const KvLayout& layout;
  std::optional<TokenizerFacts> tokenizer;
  ManifestText hir;
  std::optional<EmittedIree> iree = {};
  std::vector<EmittedXla> xla = {};
  std::optional<ManifestText> pieces = {};
  std::optional<ManifestText> chat = {};  // templates
  std::vector<ManifestParameter> parameters = {};
  std::vector<ManifestArchive> archives = {};
};

[[nodiscard]] Manifest make_contract(ContractParts parts);

}  // namespace headrace
