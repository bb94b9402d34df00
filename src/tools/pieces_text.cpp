#include "tools/pieces_text.h"

#include <algorithm>
#include <span>

#include "tokenizer/tokenizer_file.h"
#include "weights/load.h"

namespace headrace::tools {

Result<PieceText> PieceText::open(const std::string& directory, const Manifest& manifest) {
  PieceText out;
  if (!manifest.tokenizer || !manifest.tokenizer->pieces_file) return out;
  const std::string& name = *manifest.tokenizer->pieces_file;
  const auto file = std::ranges::find(manifest.texts, name, &ManifestText::file);
  HR_CHECK(file != manifest.texts.end());  // a manifest that was read says so
  HR_TRY(const std::string text, read_text({.directory = directory, .manifest = manifest}, *file));
  HR_TRY(Tokenizer tokenizer, parse_tokenizer(text, name));
  // A tokenizer.json may hold more pieces than the model has rows, or fewer.
  if (manifest.source.container == "gguf" && tokenizer.size() != manifest.tokenizer->vocabulary)
    return fail(ErrorCode::kVocabulary, "{}: {} pieces, the manifest says {}", name, tokenizer.size(),
                manifest.tokenizer->vocabulary);
  out.tokenizer_ = std::move(tokenizer);
  return out;
}

std::string PieceText::bytes(int64_t id) const {
  const bool has_piece = tokenizer_ && !tokenizer_->piece(id).empty();
  const auto text = has_piece ? tokenizer_->decode(std::span(&id, 1), {.show_special = true, .at_start = false})
                              : Result<std::string>(fmt::format("<{}>", id));
  return text.value_or("");
}

}  // namespace headrace::tools
