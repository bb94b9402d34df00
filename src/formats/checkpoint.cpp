#include "formats/checkpoint.h"

#include <algorithm>
#include <array>
#include <filesystem>

#include "formats/file.h"
#include "formats/gguf.h"
#include "formats/hf_directory.h"
#include "formats/sniff.h"

namespace headrace {

Result<Checkpoint> open_checkpoint(const std::string& path, Warnings& warnings) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) return open_hf_directory(path, warnings);
  std::array<std::byte, kSniffBytes> buffer;
  std::string_view first;
  uint64_t file_bytes = 0;
  {
    HR_TRY(const InputFile file, InputFile::open(path));
    file_bytes = file.size_bytes();
    const auto bytes = std::span(buffer).first(static_cast<size_t>(std::min<uint64_t>(buffer.size(), file_bytes)));
    HR_TRY_STATUS(file.read_at(0, bytes));
    first = {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  const auto kind = sniff_container(first);
  if (kind == ContainerKind::kGguf) return open_gguf(path, warnings);
  // An index has no first bytes of its own; a file so named that is broken from its first byte on is told what is
  // wrong.
  const bool named = path.ends_with(".safetensors") && !foreign_file(first, file_bytes);
  if (kind == ContainerKind::kSafetensors || is_index_name(path) || named) return open_hf_file(path, warnings);
  return fail(ErrorCode::kNotACheckpoint, "{}: not a checkpoint: {}", path, describe_file(first, file_bytes));
}

}  // namespace headrace
