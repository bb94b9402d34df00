#include "tokenizer/gguf_fields.h"

#include <cmath>

#include "formats/meta.h"

namespace headrace {
namespace {

constexpr size_t kMostMerges = 1'000'000;  // the longest lists hold half a million

std::string key_of(std::string_view name) { return fmt::format("tokenizer.ggml.{}", name); }

Result<std::optional<int64_t>> token_id(const Checkpoint& checkpoint, std::string_view name, size_t pieces) {
  const std::string key = key_of(name);
  HR_TRY(const auto id, meta_int(checkpoint, key));
  if (id && (*id < 0 || static_cast<uint64_t>(*id) >= pieces))
    return fail(ErrorCode::kConfigValue, "key {}: token {} is outside the vocabulary of {}", key, *id, pieces);
  return id;
}

// The items of an array that has one for every piece.
Result<bool> has_one_each(const Checkpoint& checkpoint, std::string_view name, size_t pieces) {
  const auto size = meta_array_size(checkpoint, key_of(name));
  if (size && *size != pieces)
    return fail(ErrorCode::kConfigValue, "{} has {} items, tokenizer.ggml.tokens has {}", key_of(name), *size, pieces);
  return size.has_value();
}

Status read_types(const Checkpoint& checkpoint, GgufTokenizerFields& fields) {
  fields.types.assign(fields.pieces.size(), PieceType::kNormal);
  HR_TRY(const bool there, has_one_each(checkpoint, "token_type", fields.pieces.size()));
  HR_TRY(const auto numbers, meta_int_array(checkpoint, key_of("token_type")));
  if (!there || !numbers) return {};
  for (size_t id = 0; id < numbers->size(); ++id) {
    const int64_t number = (*numbers)[id];
    if (number < 1 || number > 6)
      return fail(ErrorCode::kConfigValue, "tokenizer.ggml.token_type: token {} has type {}, expected 1 to 6", id,
                  number);
    fields.types[id] = static_cast<PieceType>(number);
  }
  return {};
}

Status read_scores(const Checkpoint& checkpoint, GgufTokenizerFields& fields) {
  HR_TRY(const bool there, has_one_each(checkpoint, "scores", fields.pieces.size()));
  HR_TRY(const auto scores, meta_float_array(checkpoint, key_of("scores")));
  if (!there || !scores) return {};
  for (size_t id = 0; id < scores->size(); ++id) {
    if (!std::isfinite((*scores)[id]))
      return fail(ErrorCode::kConfigValue, "tokenizer.ggml.scores: token {} has {}, expected a finite number", id,
                  (*scores)[id]);
    fields.scores.push_back(static_cast<float>((*scores)[id]));
  }
  if (fields.model == "gpt2") fields.scores.clear();
  return {};
}

Status read_charsmap(const Checkpoint& checkpoint, GgufTokenizerFields& fields) {
  const std::string key = key_of("precompiled_charsmap");
  HR_TRY(const auto bytes, meta_int_array(checkpoint, key));
  if (!bytes) return {};
  for (const int64_t byte : *bytes) {
    if (byte < -128 || byte > 255)
      return fail(ErrorCode::kConfigValue, "key {}: an item {}, expected bytes", key, byte);
    fields.charsmap += static_cast<char>(static_cast<unsigned char>(byte));
  }
  return {};
}

Status read_special(const Checkpoint& checkpoint, GgufTokenizerFields& fields) {
  const size_t pieces = fields.pieces.size();
  HR_TRY(fields.bos, token_id(checkpoint, "bos_token_id", pieces));
  HR_TRY(fields.eos, token_id(checkpoint, "eos_token_id", pieces));
  HR_TRY(fields.eot, token_id(checkpoint, "eot_token_id", pieces));
  HR_TRY(fields.eom, token_id(checkpoint, "eom_token_id", pieces));
  HR_TRY(fields.unknown, token_id(checkpoint, "unknown_token_id", pieces));
  HR_TRY(fields.add_bos, meta_bool(checkpoint, key_of("add_bos_token")));
  HR_TRY(fields.add_eos, meta_bool(checkpoint, key_of("add_eos_token")));
  HR_TRY(fields.add_space_prefix, meta_bool(checkpoint, key_of("add_space_prefix")));
  HR_TRY(fields.remove_extra_whitespaces, meta_bool(checkpoint, key_of("remove_extra_whitespaces")));
  return {};
}

}  // namespace

Result<std::optional<GgufTokenizerFields>> gguf_tokenizer_fields(const Checkpoint& checkpoint) {
  HR_TRY(const auto* pieces, meta_string_array(checkpoint, key_of("tokens")));
  if (pieces == nullptr || pieces->empty()) return std::nullopt;
  if (pieces->size() > kMostPieces)
    return fail(ErrorCode::kConfigValue, "tokenizer.ggml.tokens: {} pieces, expected at most {}", pieces->size(),
                kMostPieces);
  GgufTokenizerFields fields;
  fields.pieces = *pieces;
  HR_TRY(const auto model, meta_string(checkpoint, key_of("model")));
  fields.model = model.value_or("");
  HR_TRY(fields.pre, meta_string(checkpoint, key_of("pre")));
  HR_TRY_STATUS(read_types(checkpoint, fields));
  HR_TRY_STATUS(read_scores(checkpoint, fields));
  HR_TRY(const auto* merges, meta_string_array(checkpoint, key_of("merges")));
  if (merges != nullptr) {
    if (merges->size() > kMostMerges)
      return fail(ErrorCode::kConfigValue, "tokenizer.ggml.merges: {} merges, expected at most {}", merges->size(),
                  kMostMerges);
    fields.merges = *merges;
  }
  HR_TRY_STATUS(read_charsmap(checkpoint, fields));
  HR_TRY_STATUS(read_special(checkpoint, fields));
  return fields;
}

}  // namespace headrace
