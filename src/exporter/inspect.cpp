#include <algorithm>
#include <filesystem>
#include <map>

#include "exporter/export.h"
#include "exporter/source_checks.h"
#include "formats/meta.h"
#include "tokenizer/pieces.h"
#include "tokenizer/tokenizer_file.h"

namespace headrace {

namespace {

void note_faults(const Error& error, std::vector<std::string>& faults) {
  faults.push_back(error.message);
  faults.insert(faults.end(), error.more.begin(), error.more.end());
}

void count_types(const Checkpoint& checkpoint, Inspection& out) {
  std::map<BlockType, Inspection::TypeUse> uses;
  for (const TensorEntry& entry : checkpoint.tensors) {
    uint64_t elements = 1;
    for (const int64_t size : entry.shape) elements *= static_cast<uint64_t>(size);
    Inspection::TypeUse& use = uses[entry.type];
    use.type = std::string(info(entry.type).name);
    ++use.tensors;
    use.elements += elements;
    use.bytes += entry.length_bytes;
    ++out.tensor_count;
    out.parameter_count += elements;
    out.data_bytes += entry.length_bytes;
  }
  for (auto& [type, use] : uses) out.types.push_back(std::move(use));
  std::sort(out.types.begin(), out.types.end(), [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
}

void count_files(const Checkpoint& checkpoint, Inspection& out) {
  for (const SourceFile& file : checkpoint.files)
    out.files.push_back({.name = std::filesystem::path(file.path).filename().string(), .bytes = file.size_bytes});
  for (const TensorEntry& entry : checkpoint.tensors) ++out.files[entry.file].tensors;
}

}  // namespace

Result<Inspection> inspect_model(const std::string& path) {
  Warnings warnings;
  HR_TRY(Checkpoint checkpoint, open_checkpoint(path, warnings));
  Inspection out;
  count_types(checkpoint, out);
  count_files(checkpoint, out);
  HR_TRY_STATUS(drop_copied_head(checkpoint, warnings));
  const auto name = meta_string(checkpoint, "general.architecture");
  if (name && *name) out.architecture = **name;
  const auto model = make_model(checkpoint, {}, warnings);
  if (!model) {
    note_faults(model.error(), out.faults);
  } else {
    out.architecture = (*model)->architecture();
    out.config = (*model)->config();
    out.tied_head = (*model)->tied_head();
    // Tracing at length 1 finds everything that export would refuse before it reads a weight.
    const auto module = trace_model(**model, checkpoint, 1, warnings);
    if (!module) note_faults(module.error(), out.faults);
    if (module) {
      const Status factors = check_rope_factors(checkpoint, *module);
      if (!factors) note_faults(factors.error(), out.faults);
    }
  }
  const auto rows = model ? std::optional((*model)->vocabulary()) : std::nullopt;
  if (const auto tokenizer = tokenizer_facts(checkpoint, rows); !tokenizer) note_faults(tokenizer.error(), out.faults);
  if (const auto vocabulary = tokenizer_file(checkpoint, warnings); !vocabulary)
    note_faults(vocabulary.error(), out.faults);
  out.supported = out.faults.empty();
  out.warnings = std::move(warnings.lines);
  return out;
}

}  // namespace headrace
