#include "tokenizer/hf_frame.h"

#include <algorithm>

#include "formats/meta.h"

namespace headrace {
namespace {

// A token is a string, or an object with the string as content.
Result<std::string> token_text(const Checkpoint& checkpoint, std::string_view name) {
  const std::string key = fmt::format("tokenizer_config.{}", name);
  const std::string content = key + ".content";
  const auto it = checkpoint.metadata.find(key);
  if (it != checkpoint.metadata.end() && std::holds_alternative<std::monostate>(it->second.value)) return std::string();
  HR_TRY(auto text, meta_string(checkpoint, it == checkpoint.metadata.end() ? content : key));
  return std::move(text).value_or("");
}

// Null counts as absent.
Result<std::optional<bool>> flag(const Checkpoint& checkpoint, std::string_view name) {
  const std::string key = fmt::format("tokenizer_config.{}", name);
  const auto it = checkpoint.metadata.find(key);
  if (it != checkpoint.metadata.end() && std::holds_alternative<std::monostate>(it->second.value)) return std::nullopt;
  return meta_bool(checkpoint, key);
}

}  // namespace

Result<HfFrame> hf_frame(const Checkpoint& checkpoint) {
  static constexpr std::string_view kDeciding[] = {"LlamaTokenizer", "GemmaTokenizer", "CodeLlamaTokenizer"};
  HfFrame frame;
  HR_TRY(const auto name, meta_string(checkpoint, "tokenizer_config.tokenizer_class"));
  std::string_view kind = name ? std::string_view(*name) : std::string_view();
  if (kind.ends_with("Fast")) kind.remove_suffix(4);
  frame.decides = std::ranges::find(kDeciding, kind) != std::end(kDeciding);
  HR_TRY(frame.add_bos, flag(checkpoint, "add_bos_token"));
  HR_TRY(frame.add_eos, flag(checkpoint, "add_eos_token"));
  HR_TRY(frame.bos, token_text(checkpoint, "bos_token"));
  HR_TRY(frame.eos, token_text(checkpoint, "eos_token"));
  return frame;
}

}  // namespace headrace
