// The passes from a traced module to one that an engine's emitter takes.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "passes/pass.h"

namespace headrace {

// The names of the passes for an engine, in order.
[[nodiscard]] std::vector<std::string_view> pipeline_for(Engine engine);

// Called after each pass with its name and the module it made.
using PassObserver = std::function<void(std::string_view pass, const Module& module)>;

// Runs pipeline_for(options.engine). The module is verified before the first pass and after each.
// Errors: those of the passes, prefixed `pass <name>`; kVerify.
[[nodiscard]] Result<Module> run_pipeline(const Module& module, const PassOptions& options,
                                          const PassObserver& observer = {});

}  // namespace headrace
