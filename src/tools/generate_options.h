// What `headrace generate` is told, from the command line.
#pragma once

#include <CLI/App.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/sampler.h"
#include "tokenizer/chat_template.h"
#include "tools/engine_choice.h"

namespace headrace::tools {

struct TypedGenerate {
  std::string path, tokens, prompt, system, tools, max_tokens;
  std::string temperature, top_k, top_p, min_p, penalty, window, seed;
  std::vector<std::string> stops, variables;
  bool chat{}, ignore_eos{};
  CLI::Option* tokens_option{};
  CLI::Option* prompt_option{};
  TypedEngine engine;
};

void add_generate_options(CLI::App& app, TypedGenerate& typed);

struct GenerateRequest {
  std::optional<std::vector<int64_t>> tokens = {};
  std::optional<std::string> prompt = {};
  bool chat{};
  std::optional<std::string> system = {};
  std::string tools = {};  // a file, or empty
  std::optional<int64_t> max_tokens = {};
  bool ignore_eos{};
  std::vector<std::string> stops = {};
  ChatJson variables = ChatJson::object();
  SamplingOptions sampling = {};
};

// Throws UsageError: numbers that are none or out of range, options that do not go together.
[[nodiscard]] GenerateRequest read_generate_options(const TypedGenerate& typed);

// KEY=VALUE of --set into a template's variables: JSON, or else a text. Throws UsageError.
void add_variable(const std::string& text, ChatJson& variables);

}  // namespace headrace::tools
