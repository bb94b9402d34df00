#include <memory>

#include "tokenizer/chat_template.h"
#include "tools/command.h"
#include "tools/conversation.h"
#include "tools/generate_options.h"
#include "tools/text.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

struct Typed {
  std::string model, messages, tools, name;
  std::vector<std::string> variables;
  bool no_generation_prompt{};
};

Status run_template(const Typed& typed, Output& output) {
  ChatRequest request{.add_generation_prompt = !typed.no_generation_prompt, .now = local_time()};
  for (const std::string& text : typed.variables) add_variable(text, request.variables);
  Warnings warnings;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(typed.model, warnings));
  HR_TRY(const ChatTemplates templates, read_chat_templates(checkpoint));
  HR_TRY(const ChatTemplate* chat,
         templates.choose(typed.name.empty() ? std::nullopt : std::optional<std::string_view>(typed.name),
                          !typed.tools.empty()));
  if (typed.messages.empty()) {
    if (output.json()) {
      output.document({{"name", chat->name}, {"origin", chat->origin}, {"template", as_utf8(chat->source)}});
    } else {
      output.text(chat->source);
    }
    return {};
  }
  HR_TRY(request.messages, read_chat_json(typed.messages));
  if (!typed.tools.empty()) {
    HR_TRY(request.tools, read_chat_json(typed.tools));
  }
  HR_TRY(const std::string prompt, render_chat(*chat, templates, request));
  if (output.json()) {
    output.document({{"name", chat->name}, {"origin", chat->origin}, {"prompt", as_utf8(prompt)}});
  } else {
    output.text(prompt);
  }
  return {};
}

}  // namespace

Run declare_template(CLI::App& app) {
  auto typed = std::make_shared<Typed>();
  app.add_option("MODEL", typed->model, "A GGUF file or a Hugging Face directory")->required()->type_name("");
  app.add_option("--messages", typed->messages,
                 "A JSON file: a list of {role, content}. Without, the template is shown")
      ->type_name("FILE");
  app.add_option("--tools", typed->tools, "A JSON file: a list of the tools' schemas")->type_name("FILE");
  app.add_option("--name", typed->name, "Which of several templates (default: as transformers chooses)")
      ->type_name("NAME");
  app.add_option("--set", typed->variables, "A variable for the template, JSON or a text; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  app.add_flag("--no-generation-prompt", typed->no_generation_prompt, "End after the last message");
  return [typed](Output& output) { return run_template(*typed, output); };
}

}  // namespace headrace::tools
