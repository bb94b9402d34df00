// Chat templates: the Jinja text in a checkpoint that turns messages into a prompt.
//
// A template is run as Hugging Face transformers runs it (PreTrainedTokenizerBase.apply_chat_template), by the engine
// behind chat_jinja.h. docs/chat.md lists what it may use, and where it differs from Python.
#pragma once

#include <ctime>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "formats/checkpoint.h"

namespace headrace {

// Members keep their order: a tool's schema is written into the prompt as it was given.
using ChatJson = nlohmann::ordered_json;

struct ChatTemplate {
  std::string name;  // "default", "tool_use", ...
  std::string source;
  std::string origin;  // for messages: the file, or the metadata key
  friend bool operator==(const ChatTemplate&, const ChatTemplate&) = default;
};

struct ChatTemplates {
  std::vector<ChatTemplate> templates;                // none of them twice
  std::map<std::string, std::string> special_tokens;  // "bos_token" -> "<s>": variables of every template

  // The one of that name; without a name as transformers chooses: "tool_use" if there are tools and there is such a
  // one, else "default". Errors: kChatTemplate, with the names there are.
  [[nodiscard]] Result<const ChatTemplate*> choose(std::optional<std::string_view> name, bool has_tools) const;
};

// GGUF: tokenizer.chat_template and tokenizer.chat_template.NAME. Hugging Face: chat_template.jinja, else
// tokenizer_config.json's `chat_template`, a text or a list of {name, template}; additional_chat_templates/NAME.jinja.
// Special tokens are spelt as the vocabulary or tokenizer_config.json (special_tokens_map.json) spells them. A
// checkpoint without templates gives none. Errors: kChatTemplate, kConfigValue, kConfigFile, kFileRead.
[[nodiscard]] Result<ChatTemplates> read_chat_templates(const Checkpoint& checkpoint);

// The file beside an export: JSON, equal templates give equal bytes; empty when there are none.
[[nodiscard]] std::optional<std::string> chat_file(const ChatTemplates& templates);
// Reads it back; messages start with `place: `. Errors: kChatTemplate.
[[nodiscard]] Result<ChatTemplates> parse_chat_file(std::string_view text, std::string_view place);

struct ChatRequest {
  ChatJson messages = ChatJson::array();  // {"role": ..., "content": ...}, and whatever else the template knows
  ChatJson tools = nullptr;               // null, or a list of JSON schemas
  bool add_generation_prompt{true};
  ChatJson variables = ChatJson::object();  // more of them, such as {"enable_thinking": false}
  std::tm now = {};                         // what strftime_now tells
};

// The prompt. It holds the special tokens' text, bos included where the template writes it: it is to be tokenised with
// special tokens parsed, and none added. A template may take at most kChatSteps steps and 16 for each byte of the
// request, and make 64 bytes in each. Errors: kChatTemplate, one line with the template's origin and line.
inline constexpr uint64_t kChatSteps = 1'000'000;
[[nodiscard]] Result<std::string> render_chat(const ChatTemplate& chat, const ChatTemplates& from,
                                              const ChatRequest& request);

// Messages or tools as JSON from outside: at most 64 MB and 100 levels. Errors: kInput, starting with `place`.
[[nodiscard]] Result<ChatJson> parse_chat_json(std::string_view text, std::string_view place);

}  // namespace headrace
