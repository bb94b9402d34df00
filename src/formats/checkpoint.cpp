#include "formats/checkpoint.h"

#include <algorithm>
#include <array>

#include "formats/file.h"
#include "formats/gguf.h"
#include "formats/sniff.h"

namespace headrace {

Result<Checkpoint> open_checkpoint(const std::string& path, Warnings& warnings) {
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
  if (!kind)
    return fail(ErrorCode::kNotACheckpoint, "{}: not a checkpoint: {}", path, describe_file(first, file_bytes));
  switch (*kind) {
    case ContainerKind::kGguf:
      return open_gguf(path, warnings);
    case ContainerKind::kSafetensors:
      break;
  }
  throw InternalError(fmt::format("no reader for a container that was sniffed: {}", path));
}

}  // namespace headrace
