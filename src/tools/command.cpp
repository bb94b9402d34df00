#include "tools/command.h"

#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <csignal>
#include <memory>
#include <new>
#include <system_error>

#include "base/version.h"
#include "tools/text.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kWrongUsage = 2;

constexpr CommandInfo kCommands[] = {
    {.name = "inspect",
     .summary = "What is in a checkpoint, and what an export of it would refuse",
     .example = "headrace inspect model.gguf\nheadrace inspect model.gguf --json",
     .declare = declare_inspect},
    {.name = "export",
     .summary = "Write StableHLO programs, weights and the contract between them",
     .example = "headrace export model.gguf -o out/model --target iree,xla --seq 128",
     .declare = declare_export},
    {.name = "run",
     .summary = "Run one function of an export with the built-in interpreter",
     .example = "headrace run out/model score --tokens 504,3575,282,4649,314 -o logits.npy",
     .declare = declare_run},
    {.name = "generate",
     .summary = "Continue a text, or answer messages in a chat, token by token, on any engine",
     .example = "headrace generate out/model --prompt 'The capital of France is' --max-tokens 16\n"
                "headrace generate model.gguf --chat --system 'Answer in one sentence.' --temperature 0.7 --seed 1\n"
                "headrace generate out/model --tokens 504,3575,282,4649,314 --engine xla",
     .declare = declare_generate},
    {.name = "eval",
     .summary = "How well a model predicts a text: perplexity, nll, top-1",
     .example = "headrace eval out/model --text book.txt --engine xla",
     .declare = declare_eval},
    {.name = "tokenize",
     .summary = "Turn a text into the model's token ids, or ids into text",
     .example = "headrace tokenize model.gguf 'The capital of France is'\n"
                "headrace tokenize model.gguf --file chat.txt --special --json\n"
                "headrace tokenize model.gguf --detokenize 504,3575,282,4649,314",
     .declare = declare_tokenize},
    {.name = "template",
     .summary = "Show a checkpoint's chat template, or the prompt it makes of messages",
     .example = "headrace template model.gguf --messages chat.json --tools tools.json",
     .declare = declare_template},
    {.name = "synth",
     .summary = "Make a synthetic checkpoint of any supported architecture and size, for tests and benchmarks",
     .example = "headrace synth llama-3-70b -o /data/70b.gguf\n"
                "headrace synth llama-tiny -o tiny.gguf --types Q8_0 --fill random --set layers=4\n"
                "headrace synth qwen3-8b -o /data/qwen3 --format safetensors --split 5GB",
     .declare = declare_synth},
};

struct Declared {
  CLI::App* app{};
  Run run;
  std::shared_ptr<OutputOptions> output;
};

std::string indented(std::string_view lines) {
  std::string out = "  ";
  for (const char c : lines) out += c == '\n' ? "\n  " : std::string(1, c);
  return out;
}

Declared declare(CLI::App& program, const CommandInfo& info) {
  CLI::App* app = program.add_subcommand(std::string(info.name), std::string(info.summary));
  auto output = std::make_shared<OutputOptions>();
  Run run = info.declare(*app);
  app->add_flag("--json", output->json, "Results as one JSON document on standard output");
  app->add_flag("-q,--quiet", output->quiet, "No notes and no progress; warnings and errors stay");
  // An empty value is a shell variable that was not set, never a wish for the default. (No tokens at all is for the
  // function to refuse.)
  const auto not_empty = [](const std::string& value) {
    return std::string(value.empty() ? "the value is empty" : "");
  };
  for (CLI::Option* option : app->get_options())
    if (option->get_items_expected_max() > 0 && !option->check_lname("tokens") && option->get_name() != "TEXT")
      option->check(not_empty);
  app->footer(fmt::format("Example:\n{}", indented(info.example)));
  return {.app = app, .run = std::move(run), .output = std::move(output)};
}

bool asks_for_json(const std::vector<std::string>& arguments) {
  return std::ranges::find(arguments, "--json") != arguments.end();
}

std::string command_names() {
  std::vector<std::string_view> names;
  for (const CommandInfo& info : kCommands) names.push_back(info.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

int usage_failure(Output& output, std::string_view message, std::string_view command) {
  output.error("usage", message);
  output.diagnostic(fmt::format("see 'headrace {}--help'\n", command.empty() ? "" : std::string(command) + " "));
  return kWrongUsage;
}

// `headrace help export` is `headrace export --help`. An unknown first word is told apart from a misplaced argument.
void check_command(std::vector<std::string>& arguments) {
  if (arguments.empty()) return;
  if (arguments.front() == "help") {
    arguments.erase(arguments.begin());
    arguments.resize(std::min<size_t>(arguments.size(), 1));
    arguments.emplace_back("--help");
  }
  const std::string& word = arguments.front();
  if (word == "-h" || word == "--help" || word == "--version") return;
  if (word.starts_with('-'))
    wrong_usage("no option '{}' (a command comes first: {})", printable(word), command_names());
  if (std::ranges::none_of(kCommands, [&word](const CommandInfo& info) { return info.name == word; }))
    wrong_usage("no command '{}' (commands: {})", printable(word), command_names());
}

// CLI11's messages in our words; of those that remain, which are sentences, the first line.
std::string in_our_words(const CLI::ParseError& error, const CLI::App* app) {
  const std::string text = error.what();
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr && app != nullptr && !app->remaining().empty()) {
    const std::string first = app->remaining().front();
    return fmt::format("{} '{}'", first.starts_with('-') ? "no option" : "unexpected argument", printable(first));
  }
  const std::string option = text.substr(0, text.find(':'));
  if (text.ends_with("missing")) return option + ": a value is missing";
  if (text.find("At Most 1") != std::string::npos) return option + ": given more than once";
  return printable(text.substr(0, text.find('\n')));
}

int run_declared(const Declared& command) {
  Output output(*command.output);
  try {
    const Status status = command.run(output);
    if (status) return kDone;
    output.error(slug(status.error().code), status.error().message, status.error().more);
    return kFailed;
  } catch (const UsageError& e) {
    return usage_failure(output, e.what(), command.app->get_name());
  } catch (const OutputError& e) {
    output.diagnostic(fmt::format("error: {}\n", e.what()));
    return kFailed;
  }
}

int parse_and_run(std::vector<std::string> arguments) {
  CLI::App program("Language-model checkpoints in; StableHLO, weights and a contract out, for IREE and XLA.",
                   "headrace");
  program.set_version_flag("--version", fmt::format("headrace {}", kVersion));
  program.footer(
      "Exit codes: 0 done; 1 refused or failed; 2 wrong usage.\n'headrace COMMAND --help' has the options and an "
      "example.");
  std::vector<Declared> commands;
  for (const CommandInfo& info : kCommands) commands.push_back(declare(program, info));
  program.require_subcommand(1);

  Output output({.json = asks_for_json(arguments)});
  if (arguments.empty()) {
    output.diagnostic(program.help());
    return kWrongUsage;
  }
  const std::string first = arguments.front();
  const auto named = std::ranges::find_if(commands, [&first](const Declared& c) { return c.app->get_name() == first; });
  try {
    check_command(arguments);
    std::ranges::reverse(arguments);  // CLI11 takes them from the back
    program.parse(std::move(arguments));
  } catch (const CLI::CallForHelp&) {
    const auto asked = program.get_subcommands();
    output.text(asked.empty() ? program.help() : asked.front()->help("headrace"));
    return kDone;
  } catch (const CLI::CallForVersion& version) {
    output.text(std::string(version.what()) + "\n");
    return kDone;
  } catch (const CLI::ParseError& e) {
    const bool known = named != commands.end();
    return usage_failure(output, in_our_words(e, known ? named->app : nullptr), known ? first : "");
  } catch (const UsageError& e) {
    return usage_failure(output, e.what(), "");
  }
  const auto chosen = std::ranges::find_if(commands, [](const Declared& c) { return c.app->parsed(); });
  return run_declared(*chosen);
}

}  // namespace

std::span<const CommandInfo> command_table() { return kCommands; }

int run_command_line(std::vector<std::string> arguments) {
  // A reader that goes away must not end an export half-way; Output sees EPIPE instead.
  std::signal(SIGPIPE, SIG_IGN);
  // Beyond the limit of a file's size a write fails, and is then reported and cleaned up after.
  std::signal(SIGXFSZ, SIG_IGN);
  const bool json = asks_for_json(arguments);
  const auto failure = [json](std::string_view code, std::string_view message) {
    try {
      Output({.json = json}).error(code, message);
    } catch (const std::exception&) {
      return kFailed;
    }
    return kFailed;
  };
  try {
    return parse_and_run(std::move(arguments));
  } catch (const OutputError& e) {
    return failure("file-write", e.what());
  } catch (const std::bad_alloc&) {
    return failure("memory-limit", "out of memory");
  } catch (const InternalError& e) {
    return failure("internal", fmt::format("{}; this is a bug in headrace, please report it", e.what()));
  } catch (const std::exception& e) {
    const auto* system = dynamic_cast<const std::system_error*>(&e);
    if (system != nullptr && system->code() == std::errc::resource_unavailable_try_again)
      return failure("memory-limit", fmt::format("the system gives no more threads: {}", e.what()));
    return failure("internal",
                   fmt::format("internal error: {}; this is a bug in headrace, please report it", e.what()));
  }
}

}  // namespace headrace::tools
