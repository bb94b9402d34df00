#include "tools/generate_options.h"

#include <charconv>
#include <limits>

#include "tools/text.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

constexpr int64_t kMost = std::numeric_limits<int32_t>::max();

void read_number(std::string_view option, const std::string& text, double& out) {
  if (text.empty()) return;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, out);
  if (error != std::errc() || rest != end) wrong_usage("{}: '{}' is not a number", option, printable(text));
}

void read_integer(std::string_view option, const std::string& text, int64_t& out) {
  if (!text.empty()) out = parse_integer(option, text, 0, kMost);
}

SamplingOptions read_sampling(const TypedGenerate& typed) {
  SamplingOptions out;
  read_number("--temperature", typed.temperature, out.temperature);
  read_integer("--top-k", typed.top_k, out.top_k);
  read_number("--top-p", typed.top_p, out.top_p);
  read_number("--min-p", typed.min_p, out.min_p);
  read_number("--repetition-penalty", typed.penalty, out.repetition_penalty);
  read_integer("--repetition-window", typed.window, out.repetition_window);
  if (!typed.seed.empty())
    out.seed = static_cast<uint64_t>(parse_integer("--seed", typed.seed, 0, std::numeric_limits<int64_t>::max()));
  if (const Status status = check_sampling(out); !status) wrong_usage("{}", status.error().message);
  return out;
}

}  // namespace

void add_variable(const std::string& text, ChatJson& variables) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos) wrong_usage("--set: '{}' is not KEY=VALUE", printable(text));
  const std::string value = text.substr(equals + 1);
  const auto json = parse_chat_json(value, "--set");
  variables[text.substr(0, equals)] = json ? *json : ChatJson(value);
}

void add_generate_options(CLI::App& app, TypedGenerate& typed) {
  const auto option = [&app](const char* name, std::string& value, const char* help, const char* type) {
    return app.add_option(name, value, help)->type_name(type);
  };
  option("PATH", typed.path, "An export's directory, or a checkpoint, which is exported to the cache first", "")
      ->required();
  typed.prompt_option =
      option("--prompt", typed.prompt, "The text to continue; with --chat the message to answer", "TEXT");
  typed.tokens_option =
      option("--tokens", typed.tokens, "In place of --prompt: comma-separated token ids to continue", "IDS");
  app.add_flag("--chat", typed.chat, "Answer by the model's chat template; without --prompt as a conversation");
  option("--system", typed.system, "With --chat: the system message", "TEXT");
  option("--tools", typed.tools, "With --chat: a JSON file with a list of the tools' schemas, for the template",
         "FILE");
  app.add_option("--set", typed.variables, "With --chat: a variable for the template, JSON or a text; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  option("--max-tokens", typed.max_tokens, "Tokens to add at most (default: 32; with --chat what the export holds)",
         "N");
  app.add_option("--stop", typed.stops, "End before this text; repeatable")->type_name("TEXT")->allow_extra_args(false);
  app.add_flag("--ignore-eos", typed.ignore_eos, "Go on after the model's end-of-text tokens");
  option("--temperature", typed.temperature, "Draw tokens by their probabilities (default: 0, always the likeliest)",
         "T");
  option("--top-k", typed.top_k, "Of the K likeliest tokens (default: 0, all)", "K");
  option("--top-p", typed.top_p, "Of the likeliest that have this probability together (default: 1, all)", "P");
  option("--min-p", typed.min_p, "Of those with this share of the likeliest one's probability (default: 0, all)", "P");
  option("--repetition-penalty", typed.penalty, "Makes recent tokens less likely (default: 1, off)", "X");
  option("--repetition-window", typed.window, "How many tokens are recent (default: 64)", "N");
  option("--seed", typed.seed, "Of the random numbers (default: 0)", "N");
  add_engine_options(app, typed.engine);
}

GenerateRequest read_generate_options(const TypedGenerate& typed) {
  GenerateRequest out{
      .chat = typed.chat, .ignore_eos = typed.ignore_eos, .stops = typed.stops, .sampling = read_sampling(typed)};
  if (typed.tokens_option->count() > 0) out.tokens = parse_tokens(typed.tokens);
  if (typed.prompt_option->count() > 0) out.prompt = typed.prompt;
  if (!typed.system.empty()) out.system = typed.system;
  out.tools = typed.tools;
  if (!typed.max_tokens.empty()) out.max_tokens = parse_integer("--max-tokens", typed.max_tokens, 1, kMost);
  if (out.tokens && (out.prompt || out.chat)) wrong_usage("--tokens goes with neither --prompt nor --chat");
  if (!out.tokens && !out.prompt && !out.chat) wrong_usage("--prompt, --chat or --tokens: one of them");
  if (!out.chat && (out.system || !out.tools.empty() || !typed.variables.empty()))
    wrong_usage("--system, --tools and --set go with --chat");
  for (const std::string& text : typed.variables) add_variable(text, out.variables);
  return out;
}

}  // namespace headrace::tools
