// Builds the manifest of an export from what its parts produced. Private to src/exporter.
#pragma once

#include <string>
#include <vector>

#include "exporter/export.h"
#include "tokenizer/pieces.h"

namespace headrace {

// One emitted xla program.
struct EmittedXla {
  std::string function;
  ManifestText text;
  std::vector<std::string> parameters;
};

struct ContractParts {
  const ExportOptions& options;
  const Checkpoint& checkpoint;
  const Model& model;
  const Module& module;         // as the interpreter runs it
  const SymbolValues& symbols;  // what the emitted programs are specialised for
  std::optional<TokenizerFacts> tokenizer;
  ManifestText hir;
  std::optional<ManifestText> iree = {};
  std::vector<EmittedXla> xla = {};
  std::optional<ManifestText> pieces = {};
  std::vector<ManifestParameter> parameters = {};
  std::optional<ManifestArchive> archive = {};
};

[[nodiscard]] Manifest make_contract(ContractParts parts);

}  // namespace headrace
