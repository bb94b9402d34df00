#include "tokenizer/chat_template.h"

#include <algorithm>

#include "tokenizer/chat_jinja.h"

namespace headrace {
namespace {

constexpr size_t kMostRequestBytes = size_t{64} << 20;
constexpr size_t kMostDepth = 100;
constexpr size_t kMostTemplateBytes = size_t{1} << 20;
constexpr uint64_t kStepsPerByte = 16;

headrace_jinja_text as_c(std::string_view text) { return {.data = text.data(), .size = text.size()}; }

struct FreeText {
  headrace_jinja_text text;
  explicit FreeText(headrace_jinja_text given) : text(given) {}
  FreeText(const FreeText&) = delete;
  FreeText(FreeText&&) = delete;
  FreeText& operator=(const FreeText&) = delete;
  FreeText& operator=(FreeText&&) = delete;
  ~FreeText() { headrace_jinja_free(text); }
};

int64_t write_time(void* user, const char* format, size_t size, char* out, size_t capacity) {
  if (size == 0) return 0;
  // strftime returns 0 both for an empty result and for one that does not fit; the space at the end tells them apart.
  const std::string spaced = std::string(format, size) + " ";
  const size_t written = std::strftime(out, capacity, spaced.c_str(), static_cast<const std::tm*>(user));
  return written == 0 ? -1 : static_cast<int64_t>(written) - 1;
}

Result<std::string> context_text(const ChatTemplates& from, const ChatRequest& request) {
  ChatJson context = ChatJson::object();
  for (const auto& [name, text] : from.special_tokens) context[name] = text;
  context["messages"] = request.messages;
  context["tools"] = request.tools;
  context["documents"] = nullptr;
  context["add_generation_prompt"] = request.add_generation_prompt;
  for (const auto& [name, value] : request.variables.items()) context[name] = value;
  try {
    return context.dump();
  } catch (const ChatJson::exception&) {
    return fail(ErrorCode::kChatTemplate, "the messages are not UTF-8");
  }
}

// Brackets outside strings, so that no recursive code meets a deeper text.
size_t depth_of(std::string_view text) {
  size_t depth = 0;
  size_t most = 0;
  bool inside = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (inside && c == '\\') ++i;
    if (c == '"') inside = !inside;
    if (inside) continue;
    if (c == '[' || c == '{') most = std::max(most, ++depth);
    if ((c == ']' || c == '}') && depth > 0) --depth;
  }
  return most;
}

}  // namespace

Result<const ChatTemplate*> ChatTemplates::choose(std::optional<std::string_view> name, bool has_tools) const {
  const auto find = [this](std::string_view wanted) {
    const auto it = std::ranges::find(templates, wanted, &ChatTemplate::name);
    return it == templates.end() ? nullptr : &*it;
  };
  if (templates.empty()) return fail(ErrorCode::kChatTemplate, "the checkpoint has no chat template");
  const ChatTemplate* found = name ? find(*name) : has_tools ? find("tool_use") : nullptr;
  if (found == nullptr && !name) found = find("default");
  if (found != nullptr) return found;
  std::vector<std::string_view> names;
  for (const ChatTemplate& one : templates) names.push_back(one.name);
  return fail(ErrorCode::kChatTemplate, "no chat template '{}' (templates: {})", name.value_or("default"),
              fmt::join(names, ", "));
}

Result<std::string> render_chat(const ChatTemplate& chat, const ChatTemplates& from, const ChatRequest& request) {
  if (chat.source.size() > kMostTemplateBytes)
    return fail(ErrorCode::kChatTemplate, "{}: {} bytes, more than the {} allowed", chat.origin, chat.source.size(),
                kMostTemplateBytes);
  HR_TRY(const std::string context, context_text(from, request));
  if (context.size() > kMostRequestBytes)
    return fail(ErrorCode::kChatTemplate, "{} bytes of messages, more than the {} allowed", context.size(),
                kMostRequestBytes);
  std::tm now = request.now;
  const headrace_jinja_options options{
      .fuel = kChatSteps + kStepsPerByte * context.size(), .strftime = write_time, .user = &now};
  const auto result = headrace_jinja_render(as_c(chat.source), as_c(context), &options);
  const FreeText text(result.text);
  std::string out(text.text.data == nullptr ? "" : text.text.data, text.text.size);
  if (result.status == HEADRACE_JINJA_OK) return out;
  const std::string place = result.line == 0 ? chat.origin : fmt::format("{}: line {}", chat.origin, result.line);
  if (result.status == HEADRACE_JINJA_RAISED)
    return fail(ErrorCode::kChatTemplate, "{}: the template refuses the messages: {}", place, out);
  if (result.status == HEADRACE_JINJA_LIMIT)
    return fail(ErrorCode::kChatTemplate, "{}: the template does more work than {} steps allow: {}", place,
                options.fuel, out);
  return fail(ErrorCode::kChatTemplate, "{}: {}", place, out);
}

Result<ChatJson> parse_chat_json(std::string_view text, std::string_view place) {
  if (text.size() > kMostRequestBytes)
    return fail(ErrorCode::kInput, "{}: {} bytes, more than the {} allowed", place, text.size(), kMostRequestBytes);
  if (const size_t depth = depth_of(text); depth > kMostDepth)
    return fail(ErrorCode::kInput, "{}: {} levels of JSON, more than the {} allowed", place, depth, kMostDepth);
  ChatJson out = ChatJson::parse(text.begin(), text.end(), nullptr, false);
  if (out.is_discarded()) return fail(ErrorCode::kInput, "{}: not JSON", place);
  return out;
}

}  // namespace headrace
