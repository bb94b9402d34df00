#include "tools/pieces_text.h"

#include <algorithm>

#include "weights/load.h"

namespace headrace::tools {

Result<PieceText> PieceText::open(const std::string& directory, const Manifest& manifest) {
  PieceText out;
  if (!manifest.tokenizer || !manifest.tokenizer->pieces_file) return out;
  const std::string& name = *manifest.tokenizer->pieces_file;
  const auto file = std::ranges::find(manifest.texts, name, &ManifestText::file);
  HR_CHECK(file != manifest.texts.end());  // a manifest that was read says so
  HR_TRY(const std::string text, read_text({.directory = directory, .manifest = manifest}, *file));
  auto vocabulary = parse_vocabulary(text);
  if (!vocabulary) return fail(std::move(vocabulary).error().in(name));
  if (static_cast<int64_t>(vocabulary->pieces.size()) != manifest.tokenizer->vocabulary)
    return fail(ErrorCode::kVocabulary, "{}: {} pieces, the manifest says {}", name, vocabulary->pieces.size(),
                manifest.tokenizer->vocabulary);
  out.vocabulary_ = *std::move(vocabulary);
  return out;
}

std::string PieceText::bytes(int64_t id) const {
  const bool has_piece = vocabulary_ && id >= 0 && static_cast<size_t>(id) < vocabulary_->pieces.size();
  return has_piece ? piece_bytes(*vocabulary_, id) : fmt::format("<{}>", id);
}

}  // namespace headrace::tools
