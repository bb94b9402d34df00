// Puts the parts of a split GGUF together; a file that is not split is its only part.
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>

#include "formats/gguf.h"
#include "formats/gguf_part.h"
#include "formats/meta.h"

namespace headrace {

namespace {

constexpr std::string_view kSplitPrefix = "split.";
constexpr int64_t kMaxParts = 65535;  // split.count is a u16

struct SplitKeys {
  std::optional<int64_t> number;  // from 0
  std::optional<int64_t> count;
  std::optional<int64_t> tensors;  // over all parts
};

// The parts of `<prefix>-00002-of-00003.gguf`.
struct PartName {
  std::string prefix;
  int64_t number = 0;  // from 1
  int64_t count = 0;
};

std::string part_path(std::string_view prefix, int64_t number, int64_t count) {
  return fmt::format("{}-{:05}-of-{:05}.gguf", prefix, number, count);
}

std::optional<PartName> parse_part_name(std::string_view path) {
  constexpr std::string_view kShape = "-00000-of-00000.gguf";
  if (path.size() <= kShape.size()) return std::nullopt;
  const std::string_view tail = path.substr(path.size() - kShape.size());
  PartName name{.prefix = std::string(path.substr(0, path.size() - kShape.size()))};
  std::from_chars(tail.data() + 1, tail.data() + 6, name.number);
  std::from_chars(tail.data() + 10, tail.data() + 15, name.count);
  if (part_path(name.prefix, name.number, name.count) != path) return std::nullopt;
  return name;
}

Result<std::optional<int64_t>> split_key(const Metadata& metadata, std::string_view key) {
  const auto it = metadata.find(key);
  if (it == metadata.end()) return std::optional<int64_t>();
  const auto value = as_int(it->second);
  if (!value || *value < 0)
    return fail(ErrorCode::kGgufSplit, "key '{}' is {}, expected a count", key, describe(it->second));
  return std::optional(*value);
}

Result<SplitKeys> read_split_keys(const GgufPart& part) {
  SplitKeys keys;
  const auto read = [&]() -> Status {
    HR_TRY(keys.number, split_key(part.metadata, "split.no"));
    HR_TRY(keys.count, split_key(part.metadata, "split.count"));
    HR_TRY(keys.tensors, split_key(part.metadata, "split.tensors.count"));
    return {};
  };
  if (auto status = read(); !status) return fail(std::move(status).error().in(part.source.path));
  return keys;
}

Result<GgufPart> open_part(const std::string& path, HeaderHash& hash) {
  HR_TRY(const InputFile file, InputFile::open(path));
  return read_gguf_part(file, hash);
}

// Where the parts lie, from the one that the user gave. Errors: kGgufSplit.
Result<PartName> locate(const std::string& path, const SplitKeys& keys) {
  const auto name = parse_part_name(path);
  const int64_t count = *keys.count;
  if (!name)
    return fail(
        ErrorCode::kGgufSplit,
        "{}: split.count is {}, but the name does not end in -{:05}-of-{:05}.gguf: one part of several, or parts "
        "joined with cat; give the parts under their own names, or merge them with gguf-split",
        path, count, keys.number.value_or(0) + 1, count);
  if (count > kMaxParts || name->count != count || name->number < 1 || name->number > count)
    return fail(ErrorCode::kGgufSplit, "{}: split.count is {}, the name says part {} of {}", path, count, name->number,
                name->count);
  return *name;
}

Status check_part(const GgufPart& part, int64_t index, const SplitKeys& keys, const SplitKeys& first) {
  const std::string& path = part.source.path;
  if (keys.count != first.count)
    return fail(ErrorCode::kGgufSplit, "{}: split.count is {}, part 1 says {}", path,
                keys.count ? std::to_string(*keys.count) : "absent", first.count.value_or(0));
  if (keys.number != index)
    return fail(ErrorCode::kGgufSplit, "{}: split.no is {}, the name asks for {}", path,
                keys.number ? std::to_string(*keys.number) : "absent", index);
  if (keys.tensors && keys.tensors != first.tensors)
    return fail(ErrorCode::kGgufSplit, "{}: split.tensors.count is {}, part 1 says {}", path, *keys.tensors,
                first.tensors ? std::to_string(*first.tensors) : "nothing");
  return {};
}

Status merge_metadata(Checkpoint& checkpoint, GgufPart& part) {
  for (auto& [key, value] : part.metadata) {
    if (key.starts_with(kSplitPrefix)) continue;
    const auto [it, fresh] = checkpoint.metadata.try_emplace(key, std::move(value));
    if (!fresh && it->second != value)
      return fail(ErrorCode::kGgufSplit, "{}: key '{}' is {}, an earlier part says {}", part.source.path, key,
                  describe(value), describe(it->second));
  }
  return {};
}

Status append(Checkpoint& checkpoint, GgufPart part) {
  HR_TRY_STATUS(merge_metadata(checkpoint, part));
  const auto file = static_cast<uint32_t>(checkpoint.files.size());
  for (TensorEntry& tensor : part.tensors) {
    tensor.file = file;
    const auto [it, fresh] = checkpoint.by_name.try_emplace(tensor.name, checkpoint.tensors.size());
    if (!fresh)
      return fail(ErrorCode::kGgufSplit, "{}: tensor '{}' is in an earlier part, too: {}", part.source.path,
                  tensor.name, checkpoint.files[checkpoint.tensors[it->second].file].path);
    checkpoint.tensors.push_back(std::move(tensor));
  }
  checkpoint.files.push_back(std::move(part.source));
  return {};
}

Status check_total(const Checkpoint& checkpoint, const SplitKeys& first) {
  const auto found = static_cast<int64_t>(checkpoint.tensors.size());
  if (!first.tensors || *first.tensors == found) return {};
  return fail(ErrorCode::kGgufSplit, "{}: split.tensors.count is {}, the parts hold {}", checkpoint.files[0].path,
              *first.tensors, found);
}

Result<Checkpoint> open_parts(const PartName& name) {
  Checkpoint checkpoint;
  checkpoint.kind = ContainerKind::kGguf;
  HeaderHash hash;
  SplitKeys first;
  for (int64_t i = 0; i < name.count; ++i) {
    const std::string path = part_path(name.prefix, i + 1, name.count);
    auto part = open_part(path, hash);
    if (!part && part.error().code == ErrorCode::kFileOpen)
      return fail(ErrorCode::kGgufSplit, "part {} of {} is missing: {}", i + 1, name.count, part.error().message);
    if (!part) return fail(std::move(part).error());
    HR_TRY(const SplitKeys keys, read_split_keys(*part));
    if (i == 0) {
      first = keys;
      if (!first.tensors) return fail(ErrorCode::kGgufSplit, "{}: split.tensors.count is absent", path);
      if (first.count != name.count)
        return fail(ErrorCode::kGgufSplit, "{}: split.count is {}, the name says {}", path, first.count.value_or(0),
                    name.count);
    }
    HR_TRY_STATUS(check_part(*part, i, keys, first));
    HR_TRY_STATUS(append(checkpoint, std::move(*part)));
  }
  HR_TRY_STATUS(check_total(checkpoint, first));
  checkpoint.header_xxh3 = hash.hex();
  return checkpoint;
}

}  // namespace

Result<Checkpoint> open_gguf(const std::string& path, Warnings& warnings) {
  HeaderHash hash;
  HR_TRY(GgufPart part, open_part(path, hash));
  HR_TRY(const SplitKeys keys, read_split_keys(part));
  if (keys.count.value_or(0) > 1) {
    HR_TRY(const PartName name, locate(path, keys));
    return open_parts(name);
  }
  if (keys.number.value_or(0) != 0)
    return fail(ErrorCode::kGgufSplit, "{}: split.no is {}, split.count is {}", path, *keys.number,
                keys.count ? std::to_string(*keys.count) : "absent");
  if (const auto name = parse_part_name(path); name && name->count > 1)
    warnings.add("{}: named like part {} of {}, but it says nothing of parts and is read alone", path, name->number,
                 name->count);
  Checkpoint checkpoint;
  checkpoint.kind = ContainerKind::kGguf;
  HR_TRY_STATUS(append(checkpoint, std::move(part)));
  HR_TRY_STATUS(check_total(checkpoint, keys));
  checkpoint.header_xxh3 = hash.hex();
  return checkpoint;
}

}  // namespace headrace
