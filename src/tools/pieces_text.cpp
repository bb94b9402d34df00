#include "tools/pieces_text.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

namespace headrace::tools {
namespace {

// A vocabulary of a million long pieces takes a tenth of this.
constexpr std::streamsize kMaxBytes = std::streamsize{256} << 20;

Result<std::string> read_text(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return fail(ErrorCode::kFileOpen, "{}: {}", path, std::strerror(errno));
  const std::streamsize size = file.tellg();
  if (size < 0 || size > kMaxBytes)
    return fail(ErrorCode::kVocabulary, "{}: {} bytes, at most {} expected", path, size, kMaxBytes);
  std::string text(static_cast<size_t>(size), '\0');
  if (!file.seekg(0) || !file.read(text.data(), size)) return fail(ErrorCode::kFileRead, "{}: cannot be read", path);
  return text;
}

}  // namespace

Result<PieceText> PieceText::open(const std::string& directory, const Manifest& manifest) {
  PieceText out;
  if (!manifest.tokenizer || !manifest.tokenizer->pieces_file) return out;
  const std::string path = directory + "/" + *manifest.tokenizer->pieces_file;
  HR_TRY(const std::string text, read_text(path));
  auto vocabulary = parse_vocabulary(text);
  if (!vocabulary) return fail(std::move(vocabulary).error().in(path));
  if (static_cast<int64_t>(vocabulary->pieces.size()) != manifest.tokenizer->vocabulary)
    return fail(ErrorCode::kVocabulary, "{}: {} pieces, the manifest says {}", path, vocabulary->pieces.size(),
                manifest.tokenizer->vocabulary);
  out.vocabulary_ = *std::move(vocabulary);
  return out;
}

std::string PieceText::bytes(int64_t id) const {
  const bool has_piece = vocabulary_ && id >= 0 && static_cast<size_t>(id) < vocabulary_->pieces.size();
  return has_piece ? piece_bytes(*vocabulary_, id) : fmt::format("<{}>", id);
}

}  // namespace headrace::tools
