#include "tokenizer/tokenizer_file.h"

#include <algorithm>
#include <filesystem>

#include "formats/file.h"
#include "formats/json_file.h"
#include "formats/meta.h"
#include "tokenizer/gguf_fields.h"
#include "tokenizer/gguf_file.h"
#include "tokenizer/hf_frame.h"
#include "tokenizer/hf_tokenizer.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHfName = "tokenizer.json";
constexpr uint64_t kMostBytes = uint64_t{64} << 20;

Result<std::string> read_file(const std::string& path) {
  HeaderHash unused;
  return read_json_file(path, kMostBytes, ErrorCode::kConfigFile, unused);
}

// The tokenizer.json beside safetensors; empty if there is none.
std::optional<std::string> hf_file(const Checkpoint& checkpoint) {
  if (checkpoint.files.empty()) return std::nullopt;
  const fs::path path = fs::path(checkpoint.files.front().path).parent_path() / kHfName;
  std::error_code error;
  return fs::exists(path, error) ? std::optional(path.string()) : std::nullopt;
}

Result<Tokenizer> read_hf_tokenizer(const Checkpoint& checkpoint) {
  const auto path = hf_file(checkpoint);
  if (!path) return fail(ErrorCode::kConfigMissing, "the checkpoint holds no tokenizer (there is no tokenizer.json)");
  HR_TRY(const std::string text, read_file(*path));
  HR_TRY(const HfFrame frame, hf_frame(checkpoint));
  return parse_hf_tokenizer(text, *path, frame);
}

Result<std::optional<TokenizerFile>> hf_tokenizer_file(const Checkpoint& checkpoint, Warnings& warnings) {
  const auto path = hf_file(checkpoint);
  if (!path) return std::nullopt;
  HR_TRY(std::string text, read_file(*path));
  HR_TRY(const HfFrame frame, hf_frame(checkpoint));
  auto framed = frame_hf_tokenizer(std::move(text), *path, frame);
  if (framed) return TokenizerFile{.name = std::string(kHfName), .text = *std::move(framed)};
  warnings.add("tokenizer: {}; tokens are shown by id only", framed.error().message);
  return std::nullopt;
}

// Whether a GGUF's pieces can be spelt; a warning where they cannot.
Result<bool> can_spell(const Checkpoint& checkpoint, Warnings& warnings) {
  const auto pieces = meta_array_size(checkpoint, "tokenizer.ggml.tokens");
  HR_TRY(const auto model, meta_string(checkpoint, "tokenizer.ggml.model"));
  const auto kinds = gguf_tokenizer_kinds();
  if (!pieces || *pieces == 0) return false;
  if (std::ranges::find(kinds, model.value_or("")) == kinds.end()) {
    warnings.add("tokenizer: no rule to spell pieces of kind '{}' (known: {}), so tokens are shown by id only",
                 model.value_or(""), fmt::join(kinds, ", "));
    return false;
  }
  if (*pieces > kMostPieces)
    warnings.add("tokenizer: {} pieces, more than the {} spelt; tokens are shown by id only", *pieces, kMostPieces);
  return *pieces <= kMostPieces;
}

}  // namespace

Result<std::optional<TokenizerFile>> tokenizer_file(const Checkpoint& checkpoint, Warnings& warnings) {
  if (checkpoint.kind == ContainerKind::kSafetensors) return hf_tokenizer_file(checkpoint, warnings);
  HR_TRY(const bool spelt, can_spell(checkpoint, warnings));
  if (!spelt) return std::nullopt;
  HR_TRY(const auto fields, gguf_tokenizer_fields(checkpoint));
  if (!fields) return std::nullopt;
  return TokenizerFile{.name = "vocabulary.json", .text = to_tokenizer_file(*fields)};
}

Result<Tokenizer> parse_tokenizer(std::string_view text, std::string_view place) {
  // Ours says so first of all.
  if (!text.starts_with("{\n\"format\":")) return parse_hf_tokenizer(text, place, {});
  HR_TRY(auto fields, parse_tokenizer_file(text, place));
  return make_gguf_tokenizer(std::move(fields));
}

Result<Tokenizer> load_tokenizer(const std::string& path) {
  HR_TRY(const std::string text, read_file(path));
  return parse_tokenizer(text, path);
}

Result<Tokenizer> read_tokenizer(const Checkpoint& checkpoint) {
  if (checkpoint.kind == ContainerKind::kSafetensors) return read_hf_tokenizer(checkpoint);
  HR_TRY(auto fields, gguf_tokenizer_fields(checkpoint));
  if (!fields) return fail(ErrorCode::kConfigMissing, "the checkpoint holds no tokenizer (tokenizer.ggml.tokens)");
  return make_gguf_tokenizer(*std::move(fields));
}

}  // namespace headrace
