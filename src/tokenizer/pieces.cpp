#include "tokenizer/pieces.h"

#include <algorithm>

#include "formats/meta.h"
#include "tokenizer/hf_facts.h"

namespace headrace {
namespace {

Result<const std::vector<std::string>*> pieces_of(const Checkpoint& checkpoint) {
  HR_TRY(const auto* pieces, meta_string_array(checkpoint, "tokenizer.ggml.tokens"));
  return pieces == nullptr || pieces->empty() ? nullptr : pieces;
}

Result<std::optional<int64_t>> special_token(const Checkpoint& checkpoint, std::string_view key, int64_t vocabulary) {
  HR_TRY(const auto id, meta_int(checkpoint, key));
  if (id && (*id < 0 || *id >= vocabulary))
    return fail(ErrorCode::kConfigValue, "key {}: token {} is outside the vocabulary of {}", key, *id, vocabulary);
  return id;
}

}  // namespace

Result<std::optional<TokenizerFacts>> tokenizer_facts(const Checkpoint& checkpoint, std::optional<int64_t> rows) {
  if (checkpoint.kind == ContainerKind::kSafetensors) return hf_tokenizer_facts(checkpoint, rows);
  HR_TRY(const auto* pieces, pieces_of(checkpoint));
  if (pieces == nullptr) return std::nullopt;
  HR_TRY(const auto kind, meta_string(checkpoint, "tokenizer.ggml.model"));
  TokenizerFacts facts{.kind = kind.value_or(""), .vocabulary = static_cast<int64_t>(pieces->size())};
  HR_TRY(facts.bos, special_token(checkpoint, "tokenizer.ggml.bos_token_id", facts.vocabulary));
  for (const std::string_view key :
       {"tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id", "tokenizer.ggml.eom_token_id"}) {
    HR_TRY(const auto id, special_token(checkpoint, key, facts.vocabulary));
    if (id && std::ranges::find(facts.eos, *id) == facts.eos.end()) facts.eos.push_back(*id);
  }
  HR_TRY(facts.add_bos, meta_bool(checkpoint, "tokenizer.ggml.add_bos_token"));
  return facts;
}

}  // namespace headrace
