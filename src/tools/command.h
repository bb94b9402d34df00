// The commands, one file and one row each.
#pragma once

#include <CLI/App.hpp>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tools/output.h"

namespace headrace::tools {

// Does the work. Prints results, notes and warnings; returns the error for run_command_line to print.
using Run = std::function<Status(Output&)>;

struct CommandInfo {
  std::string_view name;
  std::string_view summary;
  std::string_view example;         // one or more lines for --help, each a whole command
  Run (*declare)(CLI::App& app){};  // adds the command's options; the returned function reads them when it is called
};

[[nodiscard]] std::span<const CommandInfo> command_table();

[[nodiscard]] Run declare_inspect(CLI::App& app);
[[nodiscard]] Run declare_export(CLI::App& app);
[[nodiscard]] Run declare_run(CLI::App& app);
[[nodiscard]] Run declare_generate(CLI::App& app);
[[nodiscard]] Run declare_tokenize(CLI::App& app);
[[nodiscard]] Run declare_eval(CLI::App& app);
[[nodiscard]] Run declare_template(CLI::App& app);
[[nodiscard]] Run declare_synth(CLI::App& app);

// The whole program but for main(): parses, runs, prints, and returns the exit code. 0: done; 1: refused or failed;
// 2: wrong usage. `arguments` do not hold the program's name. Throws nothing.
[[nodiscard]] int run_command_line(std::vector<std::string> arguments);

}  // namespace headrace::tools
