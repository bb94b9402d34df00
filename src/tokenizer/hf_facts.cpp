#include "tokenizer/hf_facts.h"

#include <algorithm>
#include <initializer_list>

#include "formats/meta.h"

namespace headrace {
namespace {

constexpr size_t kMostTokens = 1000;  // of one key; the longest real list of end tokens has some ten

// The first of the keys that is there and not null; empty if none is.
std::string_view first_present(const Checkpoint& checkpoint, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    const auto it = checkpoint.metadata.find(key);
    if (it != checkpoint.metadata.end() && !std::holds_alternative<std::monostate>(it->second.value)) return key;
  }
  return {};
}

// One id or a list of them.
Result<std::vector<int64_t>> token_ids(const Checkpoint& checkpoint, std::string_view key) {
  std::vector<int64_t> ids;
  if (meta_is_array(checkpoint, key)) {
    HR_TRY(const auto list, meta_int_array(checkpoint, key));
    if (list) ids = *list;
  } else if (!key.empty()) {
    HR_TRY(const auto id, meta_int(checkpoint, key));
    if (id) ids = {*id};
  }
  if (ids.size() > kMostTokens)
    return fail(ErrorCode::kConfigValue, "key {}: a list of {} tokens, expected at most {}", key, ids.size(),
                kMostTokens);
  return ids;
}

}  // namespace

Result<std::optional<TokenizerFacts>> hf_tokenizer_facts(const Checkpoint& checkpoint, std::optional<int64_t> rows) {
  const std::string_view size_key = first_present(checkpoint, {"vocab_size", "text_config.vocab_size"});
  if (!rows && !size_key.empty()) {
    HR_TRY(rows, meta_int(checkpoint, size_key));
  }
  const std::string_view bos_key =
      first_present(checkpoint, {"generation_config.bos_token_id", "bos_token_id", "text_config.bos_token_id"});
  const std::string_view eos_key =
      first_present(checkpoint, {"generation_config.eos_token_id", "eos_token_id", "text_config.eos_token_id"});
  const std::string_view add_key = first_present(checkpoint, {"tokenizer_config.add_bos_token"});
  HR_TRY(const auto bos, token_ids(checkpoint, bos_key));
  HR_TRY(const auto eos, token_ids(checkpoint, eos_key));
  if (bos.size() > 1)
    return fail(ErrorCode::kConfigValue, "key {}: a list of {} tokens, expected one", bos_key, bos.size());
  TokenizerFacts facts{.kind = "", .vocabulary = rows.value_or(0)};
  if (!bos.empty() && (bos.front() < 0 || (rows && bos.front() >= *rows)))
    return fail(ErrorCode::kConfigValue, "key {}: token {} is outside the vocabulary of {}", bos_key, bos.front(),
                rows.value_or(0));
  if (!bos.empty()) facts.bos = bos.front();
  // Cut-down checkpoints keep the ids of their larger ones; what no logit stands for never ends a text.
  for (const int64_t id : eos)
    if (id >= 0 && (!rows || id < *rows) && std::ranges::find(facts.eos, id) == facts.eos.end())
      facts.eos.push_back(id);
  if (!add_key.empty()) {
    HR_TRY(facts.add_bos, meta_bool(checkpoint, add_key));
  }
  if (!facts.bos && facts.eos.empty() && !facts.add_bos) return std::nullopt;
  if (const auto key = first_present(checkpoint, {"tokenizer_config.tokenizer_class"}); !key.empty()) {
    HR_TRY(const auto kind, meta_string(checkpoint, key));
    facts.kind = kind.value_or("");
  }
  if (!rows) return std::nullopt;
  return facts;
}

}  // namespace headrace
