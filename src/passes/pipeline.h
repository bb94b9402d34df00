// The passes, in two stages. The model stage makes of a traced module the one that the export is of: module.hir, which
// the interpreter runs and whose recipes fill the archive. The target stage makes of that one what an engine's emitter
// takes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace headrace {

// The names of the passes of the model stage, in order.
[[nodiscard]] std::vector<std::string_view> model_pipeline();
// The names of the passes of the target stage for an engine, in order.
[[nodiscard]] std::vector<std::string_view> pipeline_for(Engine engine);

// Called after each pass with its name and the module it made.
using PassObserver = std::function<void(std::string_view pass, const Module& module)>;

// Each runs the passes of its stage. The module is verified before the first pass and after each.
// Errors: those of the passes, prefixed `pass <name>`; kVerify.
[[nodiscard]] Result<Module> run_model_pipeline(const Module& module, const PassOptions& options,
                                                const PassObserver& observer = {});
[[nodiscard]] Result<Module> run_pipeline(const Module& module, const PassOptions& options,
                                          const PassObserver& observer = {});

}  // namespace headrace
