#include "tools/text_source.h"

#include <algorithm>

#include "tokenizer/tokenizer_file.h"
#include "weights/load.h"

namespace headrace::tools {
namespace {

// The text of a file that the manifest names; a manifest that was read has it among its texts.
Result<std::string> manifest_text(const std::string& directory, const Manifest& manifest, const std::string& name) {
  const auto file = std::ranges::find(manifest.texts, name, &ManifestText::file);
  HR_CHECK(file != manifest.texts.end());
  return read_text({.directory = directory, .manifest = manifest}, *file);
}

}  // namespace

Result<TextSource> export_text_source(const std::string& directory, const Manifest& manifest) {
  TextSource out;
  if (!manifest.tokenizer) return out;
  if (const auto& name = manifest.tokenizer->pieces_file) {
    HR_TRY(const std::string text, manifest_text(directory, manifest, *name));
    HR_TRY(out.tokenizer, parse_tokenizer(text, *name));
  }
  if (const auto& name = manifest.tokenizer->chat_file) {
    HR_TRY(const std::string text, manifest_text(directory, manifest, *name));
    HR_TRY(out.chat, parse_chat_file(text, *name));
  }
  return out;
}

Result<TextSource> checkpoint_text_source(const std::string& model, Warnings& warnings) {
  TextSource out;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(model, warnings));
  HR_TRY(out.tokenizer, read_tokenizer(checkpoint));
  HR_TRY(out.chat, read_chat_templates(checkpoint));
  return out;
}

}  // namespace headrace::tools
