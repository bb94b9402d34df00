#include "tokenizer/tokenizer_file.h"

#include <filesystem>

#include "formats/file.h"
#include "formats/json_file.h"
#include "tokenizer/gguf_fields.h"
#include "tokenizer/gguf_file.h"
#include "tokenizer/hf_frame.h"
#include "tokenizer/hf_tokenizer.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kMostBytes = uint64_t{64} << 20;

Result<std::string> read_file(const std::string& path) {
  HeaderHash unused;
  return read_json_file(path, kMostBytes, ErrorCode::kConfigFile, unused);
}

// The tokenizer.json beside safetensors; empty if there is none.
std::optional<std::string> hf_file(const Checkpoint& checkpoint) {
  if (checkpoint.files.empty()) return std::nullopt;
  const fs::path path = fs::path(checkpoint.files.front().path).parent_path() / "tokenizer.json";
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

Result<std::optional<std::string>> hf_tokenizer_text(const Checkpoint& checkpoint, Warnings& warnings) {
  const auto path = hf_file(checkpoint);
  if (!path) return std::nullopt;
  HR_TRY(std::string text, read_file(*path));
  HR_TRY(const HfFrame frame, hf_frame(checkpoint));
  auto framed = frame_hf_tokenizer(std::move(text), *path, frame);
  if (framed) return *std::move(framed);
  warnings.add("tokenizer: {}; tokens are shown by id only", framed.error().message);
  return std::nullopt;
}

}  // namespace

Result<std::optional<std::string>> tokenizer_text(const Checkpoint& checkpoint, Warnings& warnings) {
  if (checkpoint.kind == ContainerKind::kSafetensors) return hf_tokenizer_text(checkpoint, warnings);
  HR_TRY(const auto fields, gguf_tokenizer_fields(checkpoint));
  if (!fields) return std::nullopt;
  HR_TRY(const Tokenizer tokenizer, make_gguf_tokenizer(*fields));
  if (const auto refused = tokenizer.cannot_encode())
    warnings.add("tokenizer: {}; texts cannot be encoded", refused->message);
  return to_tokenizer_file(*fields);
}

Result<Tokenizer> parse_tokenizer(std::string_view text, std::string_view place) {
  // Ours says so first of all.
  if (!text.starts_with("{\n\"format\":")) return parse_hf_tokenizer(text, place, {});
  HR_TRY(auto fields, parse_tokenizer_file(text, place));
  auto tokenizer = make_gguf_tokenizer(std::move(fields));
  if (!tokenizer)
    return fail(Error{.code = ErrorCode::kVocabulary, .message = std::move(tokenizer).error().message}.in(place));
  return tokenizer;
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
