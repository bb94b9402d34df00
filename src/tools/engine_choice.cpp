#include "tools/engine_choice.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "tools/text.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kOwnEnvironment = ".venv";

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// `given`, or else the variable's value.
std::string given_or(const std::string& given, const char* name) { return given.empty() ? variable(name) : given; }

std::string engine_names() {
  std::vector<std::string_view> names;
  for (const EngineInfo& engine : kEngineTable) names.push_back(engine.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string choose_python(const std::string& typed) {
  if (std::string given = given_or(typed, "HEADRACE_PYTHON"); !given.empty()) return given;
  const fs::path own = fs::path(kOwnEnvironment) / "bin/python";
  std::error_code ignored;
  return fs::exists(own, ignored) ? own.string() : "python3";
}

std::string cache_directory() {
  const std::string xdg = variable("XDG_CACHE_HOME");
  const std::string home = variable("HOME");
  if (!xdg.empty()) return xdg + "/headrace";
  return home.empty() ? "" : home + "/.cache/headrace";
}

// lib/python3.11/site-packages and its like, in the order of their names.
std::vector<fs::path> site_packages(const fs::path& environment) {
  std::vector<fs::path> out;
  std::error_code error;
  for (auto entry = fs::directory_iterator(environment / "lib", error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    if (entry->path().filename().string().starts_with("python3")) out.push_back(entry->path() / "site-packages");
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace

std::string find_plugin(const std::vector<std::string>& environments) {
  for (const std::string& environment : environments) {
    if (environment.empty()) continue;
    for (const fs::path& folder : site_packages(environment)) {
      for (const PluginPackage& package : kPluginPackages) {
        std::error_code ignored;
        if (fs::path plugin = folder / package.path; fs::is_regular_file(plugin, ignored)) return plugin.string();
      }
    }
  }
  return "";
}

void add_engine_options(CLI::App& app, TypedEngine& typed) {
  app.add_option("--engine", typed.engine, fmt::format("What runs it: {} (default: interp)", engine_names()))
      ->type_name("ENGINE");
  app.add_option("--pjrt-plugin", typed.pjrt_plugin,
                 "xla: a PJRT plugin (default: HEADRACE_PJRT_PLUGIN, or one installed in .venv)")
      ->type_name("FILE");
  app.add_option("--python", typed.python,
                 "iree: a Python with headrace and IREE (default: HEADRACE_PYTHON, .venv/bin/python, python3)")
      ->type_name("FILE");
}

EngineChoice choose_engine(const TypedEngine& typed) {
  const auto kind = parse_engine(typed.engine);
  if (!kind) wrong_usage("--engine: '{}' is none of {}", printable(typed.engine), engine_names());
  EngineChoice out{.kind = *kind, .options = {.max_region_runs = kMaxRegionRuns}};
  if (*kind == EngineKind::kXla) {
    out.options.pjrt_plugin = given_or(typed.pjrt_plugin, "HEADRACE_PJRT_PLUGIN");
    if (out.options.pjrt_plugin.empty())
      out.options.pjrt_plugin = find_plugin({variable("VIRTUAL_ENV"), std::string(kOwnEnvironment)});
  }
  if (*kind == EngineKind::kIree) {
    out.options.python = choose_python(typed.python);
    out.options.cache_directory = cache_directory();
  }
  return out;
}

}  // namespace headrace::tools
