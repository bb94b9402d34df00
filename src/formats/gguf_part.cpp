#include "formats/gguf_part.h"

#include <utility>

#include "base/checked.h"

namespace headrace {

namespace {

constexpr uint64_t kDefaultAlignment = 32;
constexpr std::string_view kAlignmentKey = "general.alignment";

Status check_version(uint32_t version) {
  if ((version & 0xFFFFU) == 0 && version != 0)
    return fail(ErrorCode::kGgufHeader, "version reads 0x{:08x}: the file looks big-endian, only little-endian is read",
                version);
  if (version != 2 && version != 3) return fail(ErrorCode::kGgufHeader, "GGUF version {}, expected 2 or 3", version);
  return {};
}

Result<uint64_t> alignment(const Metadata& metadata) {
  const auto it = metadata.find(kAlignmentKey);
  if (it == metadata.end()) return kDefaultAlignment;
  const auto* value = std::get_if<uint64_t>(&it->second.value);
  const auto* negative = std::get_if<int64_t>(&it->second.value);
  if (value == nullptr && negative == nullptr)
    return fail(ErrorCode::kGgufHeader, "key '{}': not an integer, expected a u32", kAlignmentKey);
  if (value == nullptr && *negative < 0)
    return fail(ErrorCode::kGgufHeader, "key '{}': {}, expected a multiple of 8", kAlignmentKey, *negative);
  const uint64_t bytes = value != nullptr ? *value : static_cast<uint64_t>(*negative);
  if (bytes == 0 || bytes % 8 != 0 || bytes > UINT32_MAX)
    return fail(ErrorCode::kGgufHeader, "key '{}': {}, expected a non-zero multiple of 8 below 2^32", kAlignmentKey,
                bytes);
  return bytes;
}

Result<GgufPart> read_part(const InputFile& file, HeaderHash& hash) {
  HeaderReader reader(file, hash);
  HR_TRY(const std::string magic, reader.text(kGgufMagic.size()));
  if (magic != kGgufMagic) return fail(ErrorCode::kGgufHeader, "does not start with the magic bytes GGUF");
  HR_TRY(const uint32_t version, reader.number<uint32_t>());
  HR_TRY_STATUS(check_version(version));
  HR_TRY(const uint64_t tensors, reader.number<uint64_t>());
  HR_TRY(const uint64_t keys, reader.number<uint64_t>());
  GgufPart part;
  part.source = file.source();
  HR_TRY(part.metadata, read_gguf_metadata(reader, keys));
  HR_TRY(const uint64_t align, alignment(part.metadata));
  HR_TRY(part.tensors, read_gguf_tensors(reader, tensors, align, file.size_bytes()));
  return part;
}

}  // namespace

Result<GgufPart> read_gguf_part(const InputFile& file, HeaderHash& hash) {
  auto part = read_part(file, hash);
  if (!part) return fail(std::move(part).error().in(file.path()));
  return part;
}

}  // namespace headrace
