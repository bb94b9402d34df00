// The stage of an export that writes weights, or takes another export's. Private to src/exporter.
#pragma once

#include "exporter/contract.h"
#include "exporter/export.h"
#include "weights/commit.h"

namespace headrace {

// Fills parts.parameters, parts.archives and the report's weight_bytes. Errors: those of plan_archives, write_archive
// and the directory; kMemoryLimit; kOverflow; kArchive when the export to share with has other weights.
[[nodiscard]] Status write_weights(ExportDirectory& directory, const ExportOptions& options, const ExportHooks& hooks,
                                   ContractParts& parts, ExportReport& report, Warnings& warnings);

}  // namespace headrace
