// The chat templates that an export carries: chat_file and parse_chat_file (chat_template.h).
//
//   {"special_tokens": {"bos_token": "<s>", ...},
//    "templates": [{"name": "default", "origin": "tokenizer.chat_template", "template": "..."}]}
#include <algorithm>

#include "base/bounded_json.h"
#include "tokenizer/chat_template.h"

namespace headrace {

std::optional<std::string> chat_file(const ChatTemplates& templates) {
  if (templates.templates.empty()) return std::nullopt;
  ChatJson out;
  out["special_tokens"] = templates.special_tokens;
  for (const ChatTemplate& chat : templates.templates)
    out["templates"].push_back({{"name", chat.name}, {"origin", chat.origin}, {"template", chat.source}});
  return out.dump(1, ' ', false, ChatJson::error_handler_t::replace) + "\n";
}

Result<ChatTemplates> parse_chat_file(std::string_view text, std::string_view place) {
  HR_TRY(const auto root, parse_bounded_json(text, ErrorCode::kChatTemplate, place));
  const auto fault = [place](std::string_view what) { return fail(ErrorCode::kChatTemplate, "{}: {}", place, what); };
  ChatTemplates out;
  const auto tokens = root.find("special_tokens");
  if (tokens == root.end() || !tokens->is_object()) return fault("'special_tokens' is missing or not an object");
  for (const auto& [name, token] : tokens->items()) {
    if (!token.is_string()) return fault("a special token that is not a text");
    out.special_tokens[name] = token.get<std::string>();
  }
  const auto templates = root.find("templates");
  if (templates == root.end() || !templates->is_array()) return fault("'templates' is missing or not a list");
  for (const auto& item : *templates) {
    const auto member = [&item](const char* key) {
      const auto it = item.is_object() ? item.find(key) : item.end();
      return it != item.end() && it->is_string() ? std::optional(it->get<std::string>()) : std::nullopt;
    };
    auto name = item.is_object() ? member("name") : std::nullopt;
    auto origin = item.is_object() ? member("origin") : std::nullopt;
    auto source = item.is_object() ? member("template") : std::nullopt;
    if (!name || !origin || !source) return fault("a template without the texts 'name', 'origin' and 'template'");
    if (std::ranges::find(out.templates, *name, &ChatTemplate::name) != out.templates.end())
      return fault("a template is there twice");
    out.templates.push_back({.name = *std::move(name), .source = *std::move(source), .origin = *std::move(origin)});
  }
  return out;
}

}  // namespace headrace
