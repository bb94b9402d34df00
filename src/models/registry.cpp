#include <algorithm>

#include "formats/meta.h"
#include "models/model.h"

namespace headrace {

#define HR_MODEL(name, summary, make) \
  Result<std::unique_ptr<Model>> make(const Checkpoint&, const ModelOptions&, Warnings&);
#include "models/models.def"

std::span<const ArchitectureInfo> architecture_table() {
  static constexpr ArchitectureInfo kTable[] = {
#define HR_MODEL(name, summary, make) {name, summary, make},
#include "models/models.def"
  };
  return kTable;
}

Result<std::unique_ptr<Model>> make_model(const Checkpoint& checkpoint, const ModelOptions& options,
                                          Warnings& warnings) {
  constexpr std::string_view kKey = "general.architecture";
  HR_TRY(const auto name, meta_string(checkpoint, kKey));
  const auto table = architecture_table();
  std::string supported;
  for (const ArchitectureInfo& row : table) supported += (supported.empty() ? "" : ", ") + std::string(row.name);
  if (!name) return fail(ErrorCode::kArchitecture, "key '{}' is missing; supported: {}", kKey, supported);
  const auto row = std::find_if(table.begin(), table.end(), [&](const ArchitectureInfo& i) { return i.name == *name; });
  if (row == table.end())
    return fail(ErrorCode::kArchitecture, "architecture '{}' is not supported; supported: {}", *name, supported);
  return row->make(checkpoint, options, warnings);
}

}  // namespace headrace
