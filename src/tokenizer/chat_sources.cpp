// Where checkpoints keep their chat templates: read_chat_templates (chat_template.h).
#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "base/bounded_json.h"
#include "formats/file.h"
#include "formats/json_file.h"
#include "formats/meta.h"
#include "tokenizer/chat_template.h"

namespace headrace {
namespace {

constexpr uint64_t kMostConfigBytes = uint64_t{64} << 20;
constexpr uint64_t kMostTemplateBytes = uint64_t{1} << 20;
constexpr size_t kMostTemplates = 64;
constexpr std::string_view kGgufKey = "tokenizer.chat_template";

// The variable that transformers gives a template, GGUF's key for the id.
struct SpecialToken {
  std::string_view name;
  std::string_view gguf_key;
};
constexpr SpecialToken kSpecialTokens[] = {
    {.name = "bos_token", .gguf_key = "tokenizer.ggml.bos_token_id"},
    {.name = "eos_token", .gguf_key = "tokenizer.ggml.eos_token_id"},
    {.name = "unk_token", .gguf_key = "tokenizer.ggml.unknown_token_id"},
    {.name = "sep_token", .gguf_key = "tokenizer.ggml.seperator_token_id"},
    {.name = "pad_token", .gguf_key = "tokenizer.ggml.padding_token_id"},
    {.name = "cls_token", .gguf_key = "tokenizer.ggml.cls_token_id"},
    {.name = "mask_token", .gguf_key = "tokenizer.ggml.mask_token_id"},
};

Status add(ChatTemplates& out, ChatTemplate chat) {
  if (out.templates.size() == kMostTemplates)
    return fail(ErrorCode::kChatTemplate, "{}: more than {} chat templates", chat.origin, kMostTemplates);
  if (std::ranges::find(out.templates, chat.name, &ChatTemplate::name) != out.templates.end())
    return fail(ErrorCode::kChatTemplate, "{}: chat template '{}' is there twice", chat.origin, chat.name);
  out.templates.push_back(std::move(chat));
  return {};
}

Result<ChatTemplates> read_gguf(const Checkpoint& checkpoint) {
  ChatTemplates out;
  for (auto it = checkpoint.metadata.lower_bound(kGgufKey);
       it != checkpoint.metadata.end() && it->first.starts_with(kGgufKey); ++it) {
    const std::string_view rest = std::string_view(it->first).substr(kGgufKey.size());
    if (!rest.empty() && (rest.front() != '.' || rest.size() == 1)) continue;
    HR_TRY(auto source, meta_string(checkpoint, it->first));
    HR_TRY_STATUS(add(out, {.name = rest.empty() ? "default" : std::string(rest.substr(1)),
                            .source = *std::move(source),
                            .origin = it->first}));
  }
  HR_TRY(const auto* const pieces, meta_string_array(checkpoint, "tokenizer.ggml.tokens"));
  for (const auto& [name, key] : kSpecialTokens) {
    HR_TRY(const auto id, meta_int(checkpoint, key));
    if (!id || pieces == nullptr) continue;
    if (*id < 0 || static_cast<uint64_t>(*id) >= pieces->size())
      return fail(ErrorCode::kConfigValue, "key {}: token {} is outside the vocabulary of {}", key, *id,
                  pieces->size());
    out.special_tokens.emplace(name, (*pieces)[static_cast<size_t>(*id)]);
  }
  return out;
}

bool is_file(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

Result<std::string> read_text(const std::filesystem::path& path) {
  HR_TRY(const InputFile file, InputFile::open(path.string()));
  if (file.size_bytes() > kMostTemplateBytes)
    return fail(ErrorCode::kChatTemplate, "{}: {} bytes, more than the {} allowed", path.string(), file.size_bytes(),
                kMostTemplateBytes);
  return file.read_text(0, file.size_bytes());
}

// A token is its text, or an object with its text as `content`.
void add_special_tokens(ChatTemplates& out, const nlohmann::json& config) {
  for (const auto& [name, key] : kSpecialTokens) {
    const auto it = config.find(name);
    if (it == config.end()) continue;
    const auto content = it->is_object() ? it->find("content") : it;
    if (it->is_object() && content == it->end()) continue;
    if (content->is_string()) out.special_tokens.emplace(name, content->get<std::string>());
  }
}

Status add_configured(ChatTemplates& out, const nlohmann::json& chat, const std::string& origin) {
  if (chat.is_null()) return {};
  if (chat.is_string())
    return add(out, {.name = "default", .source = chat.get<std::string>(), .origin = origin + ": chat_template"});
  if (!chat.is_array())
    return fail(ErrorCode::kChatTemplate, "{}: chat_template is {}, expected a text or a list", origin,
                chat.type_name());
  for (const auto& item : chat) {
    const auto text = [&item](const char* key) {
      const auto it = item.is_object() ? item.find(key) : item.end();
      return it != item.end() && it->is_string() ? std::optional(it->get<std::string>()) : std::nullopt;
    };
    auto name = item.is_object() ? text("name") : std::nullopt;
    auto source = item.is_object() ? text("template") : std::nullopt;
    if (!name || !source)
      return fail(ErrorCode::kChatTemplate, "{}: chat_template: an item without the texts 'name' and 'template'",
                  origin);
    const std::string place = fmt::format("{}: chat_template '{}'", origin, *name);
    HR_TRY_STATUS(add(out, {.name = *std::move(name), .source = *std::move(source), .origin = place}));
  }
  return {};
}

Status add_additional(ChatTemplates& out, const std::filesystem::path& directory) {
  std::error_code error;
  std::vector<std::filesystem::path> paths;
  for (std::filesystem::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    if (it->path().extension() == ".jinja") paths.push_back(it->path());
  std::ranges::sort(paths);
  for (const auto& path : paths) {
    HR_TRY(auto source, read_text(path));
    HR_TRY_STATUS(add(out, {.name = path.stem().string(), .source = std::move(source), .origin = path.string()}));
  }
  return {};
}

Result<nlohmann::json> read_config(const std::filesystem::path& path, std::span<const std::string_view> only) {
  if (!is_file(path)) return nlohmann::json::object();
  HeaderHash unused;
  HR_TRY(const auto text, read_json_file(path.string(), kMostConfigBytes, ErrorCode::kConfigFile, unused));
  return parse_bounded_json(text, ErrorCode::kConfigFile, path.string(), {.only = only});
}

Result<ChatTemplates> read_hf(const Checkpoint& checkpoint) {
  ChatTemplates out;
  HR_CHECK(!checkpoint.files.empty());
  const std::filesystem::path directory = std::filesystem::path(checkpoint.files.front().path).parent_path();
  std::vector<std::string_view> wanted = {"chat_template"};
  for (const SpecialToken& token : kSpecialTokens) wanted.push_back(token.name);
  const auto path = directory / "tokenizer_config.json";
  HR_TRY(const auto config, read_config(path, wanted));
  HR_TRY(const auto map, read_config(directory / "special_tokens_map.json", std::span(wanted).subspan(1)));
  add_special_tokens(out, config);
  add_special_tokens(out, map);
  if (const auto file = directory / "chat_template.jinja"; is_file(file)) {
    HR_TRY(auto source, read_text(file));
    HR_TRY_STATUS(add(out, {.name = "default", .source = std::move(source), .origin = file.string()}));
  } else if (const auto it = config.find("chat_template"); it != config.end()) {
    HR_TRY_STATUS(add_configured(out, *it, path.string()));
  }
  HR_TRY_STATUS(add_additional(out, directory / "additional_chat_templates"));
  return out;
}

}  // namespace

Result<ChatTemplates> read_chat_templates(const Checkpoint& checkpoint) {
  return checkpoint.kind == ContainerKind::kGguf ? read_gguf(checkpoint) : read_hf(checkpoint);
}

}  // namespace headrace
