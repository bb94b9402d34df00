#include "passes/pipeline.h"

#include <algorithm>

#include "ir/verify.h"
#include "passes/dead_code.h"
#include "passes/dtype.h"
#include "passes/expand.h"
#include "passes/inline_calls.h"
#include "passes/specialise.h"
#include "passes/unify_constants.h"

namespace headrace {

namespace {

// Once, for all engines.
constexpr std::string_view kModelStage[] = {
    "dtype",
};

struct Step {
  std::string_view pass;
  bool iree{};
  bool xla{};
};

// For each engine.
constexpr Step kTargetStage[] = {
    // Before expansion: how an op is best spelt depends on the number of rows.
    {.pass = "specialise", .iree = true, .xla = true},
    // XLA's weights are arguments of the entry function, and only of that; IREE's globals are seen from everywhere, so
    // there outlined blocks may stay outlined.
    {.pass = "inline-calls", .iree = false, .xla = true},
    {.pass = "expand", .iree = true, .xla = true},
    // After expansion, which brings constants of its own.
    {.pass = "unify-constants", .iree = true, .xla = true},
    // Last: it sees what the others left unused.
    {.pass = "dead-code", .iree = true, .xla = true},
};

Result<Module> run(std::span<const std::string_view> names, const Module& module, const PassOptions& options,
                   const PassObserver& observer) {
  HR_TRY_STATUS(verify(module));
  Module current = module;
  for (const std::string_view name : names) {
    const PassInfo* pass = find_pass(name);
    HR_CHECK(pass != nullptr);
    auto next = pass->run(current, options);
    if (!next) return fail(std::move(next).error().in(fmt::format("pass {}", name)));
    current = *std::move(next);
    if (auto good = verify(current); !good) return fail(std::move(good).error().in(fmt::format("after pass {}", name)));
    if (observer) observer(name, current);
  }
  return current;
}

}  // namespace

std::span<const PassInfo> pass_table() {
  static constexpr PassInfo kTable[] = {
#define HR_PASS(name, function, summary) {name, function, summary},
#include "passes/passes.def"
  };
  return kTable;
}

const PassInfo* find_pass(std::string_view name) {
  const auto table = pass_table();
  const auto row = std::find_if(table.begin(), table.end(), [&](const PassInfo& i) { return i.name == name; });
  return row == table.end() ? nullptr : &*row;
}

std::vector<std::string_view> model_pipeline() { return {std::begin(kModelStage), std::end(kModelStage)}; }

std::vector<std::string_view> pipeline_for(Engine engine) {
  std::vector<std::string_view> out;
  for (const Step& step : kTargetStage)
    if (engine == Engine::kIree ? step.iree : step.xla) out.push_back(step.pass);
  return out;
}

Result<Module> run_model_pipeline(const Module& module, const PassOptions& options, const PassObserver& observer) {
  return run(kModelStage, module, options, observer);
}

Result<Module> run_pipeline(const Module& module, const PassOptions& options, const PassObserver& observer) {
  return run(pipeline_for(options.engine), module, options, observer);
}

}  // namespace headrace
