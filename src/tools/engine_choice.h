// --engine and what engines need, from the command line, the environment and the places where Python packages lie.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace headrace::tools {

struct TypedEngine {
  std::string engine{"interp"}, pjrt_plugin, python;
};

// Adds --engine, --pjrt-plugin and --python.
void add_engine_options(CLI::App& app, TypedEngine& typed);

struct EngineChoice {
  EngineKind kind{};
  EngineOptions options;
};

// Throws UsageError for a name that no engine has. The plugin: --pjrt-plugin, HEADRACE_PJRT_PLUGIN, or a package of
// kPluginPackages in the virtual environments $VIRTUAL_ENV and ./.venv. The Python: --python, HEADRACE_PYTHON,
// ./.venv/bin/python, python3. Compiled code is kept below $XDG_CACHE_HOME or ~/.cache.
[[nodiscard]] EngineChoice choose_engine(const TypedEngine& typed);

// A Python package that holds a PJRT plugin for this machine's processor.
struct PluginPackage {
  std::string_view package;
  std::string_view path;  // below site-packages
};
inline constexpr PluginPackage kPluginPackages[] = {
    {"xla-cpu-pjrt", "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so"},
    {"lammps-jax-pjrt-cpu", "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"},
};

// The first plugin of kPluginPackages in the first of these virtual environments that has one; "" without.
[[nodiscard]] std::string find_plugin(const std::vector<std::string>& environments);

}  // namespace headrace::tools
