#include "formats/hf_directory.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "formats/config_json.h"
#include "formats/file.h"
#include "formats/json_file.h"
#include "formats/safetensors.h"
#include "formats/safetensors_index.h"

namespace headrace {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kWhole = "model.safetensors";
constexpr std::string_view kIndexTail = ".safetensors.index.json";
constexpr std::string_view kIndex = "model.safetensors.index.json";
constexpr uint64_t kMaxIndexBytes = uint64_t{64} << 20;  // the largest real ones take 10 MB

// Also of a link to nowhere and of what may not be looked at: to open it then says what is wrong.
bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::symlink_status(path, error).type() != fs::file_type::not_found;
}

std::string in(const std::string& directory, std::string_view name) { return (fs::path(directory) / name).string(); }

std::string directory_of(const std::string& path) {
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

// The first few of some names: `a, b and 3 more`.
std::string some(const std::vector<std::string>& names) {
  constexpr size_t kNamed = 8;
  std::string out = fmt::format("{}", fmt::join(std::span(names).first(std::min(names.size(), kNamed)), ", "));
  if (names.size() > kNamed) out += fmt::format(" and {} more", names.size() - kNamed);
  return out;
}

// Names of a directory's entries with this ending, sorted.
std::vector<std::string> files_with(const std::string& directory, std::string_view ending) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error))
    if (auto name = it->path().filename().string(); name.ends_with(ending)) names.push_back(std::move(name));
  std::ranges::sort(names);
  return names;
}

// What is wrong with a directory that lacks `missing`.
tl::unexpected<Error> not_a_checkpoint(const std::string& directory, std::string_view missing) {
  std::string hint;
  if (const auto gguf = files_with(directory, ".gguf"); !gguf.empty())
    hint = fmt::format("; it holds GGUF files, name one: {}", some(gguf));
  else if (is_there(in(directory, "manifest.json")))
    hint = "; it holds a manifest.json: an export, not a model";
  else if (const auto other = files_with(directory, ".safetensors"); !other.empty())
    hint = fmt::format("; it holds {}", some(other));
  else if (const auto torch = files_with(directory, ".bin"); !torch.empty())
    hint = fmt::format("; it holds {}: convert the model to safetensors", some(torch));
  return fail(ErrorCode::kNotACheckpoint, "{}: no checkpoint: {}{}", directory, missing, hint);
}

Status check_config(const std::string& directory) {
  if (is_there(in(directory, kConfigFile))) return {};
  return not_a_checkpoint(directory, fmt::format("there is no {} in the directory", kConfigFile));
}

Status append(SafetensorsFile part, Checkpoint& checkpoint) {
  const auto file = static_cast<uint32_t>(checkpoint.files.size());
  for (TensorEntry& tensor : part.tensors) {
    tensor.file = file;
    const auto [it, fresh] = checkpoint.by_name.try_emplace(tensor.name, checkpoint.tensors.size());
    HR_CHECK(fresh);  // within a file and between shards it was looked for
    checkpoint.tensors.push_back(std::move(tensor));
  }
  checkpoint.files.push_back(std::move(part.source));
  return {};
}

Result<Checkpoint> open_whole(const std::string& path) {
  const std::string directory = directory_of(path);
  HR_TRY_STATUS(check_config(directory));
  Checkpoint out;
  out.kind = ContainerKind::kSafetensors;
  HeaderHash hash;
  HR_TRY(out.metadata, read_configs(directory, hash));
  HR_TRY(const InputFile file, InputFile::open(path));
  HR_TRY(auto part, read_safetensors(file, hash));
  HR_TRY_STATUS(append(std::move(part), out));
  out.header_xxh3 = hash.hex();
  return out;
}

Status check_shards_exist(const SafetensorsIndex& index, const std::string& directory, const std::string& index_path) {
  std::vector<std::string> missing;
  for (const std::string& shard : index.shards)
    if (!is_there(in(directory, shard))) missing.push_back(shard);
  if (missing.empty()) return {};
  return fail(ErrorCode::kSafetensorsSet, "{}: {} of {} shards are missing in the directory: {}", index_path,
              missing.size(), index.shards.size(), some(missing));
}

// Every tensor of the shard is given to it by the index.
Status check_shard(const SafetensorsFile& part, const std::string& shard, const SafetensorsIndex& index) {
  for (const TensorEntry& tensor : part.tensors) {
    const auto it = index.weight_map.find(tensor.name);
    if (it == index.weight_map.end())
      return fail(ErrorCode::kSafetensorsSet, "{}: the index does not name its tensor '{}'", part.source.path,
                  tensor.name);
    const auto& given = it->second.get_ref<const std::string&>();
    if (given != shard)
      return fail(ErrorCode::kSafetensorsSet, "{}: holds tensor '{}', which the index gives to {}", part.source.path,
                  tensor.name, given);
  }
  return {};
}

Status check_complete(const Checkpoint& checkpoint, const SafetensorsIndex& index, const std::string& index_path) {
  if (checkpoint.tensors.size() == index.weight_map.size()) return {};
  const auto it =
      std::ranges::find_if(index.weight_map, [&](const auto& row) { return checkpoint.find(row.first) == nullptr; });
  return fail(ErrorCode::kSafetensorsSet, "{}: tensor '{}' is given to {}, which does not hold it", index_path,
              it->first, it->second.get_ref<const std::string&>());
}

void check_total(const Checkpoint& checkpoint, const SafetensorsIndex& index, const std::string& index_path,
                 Warnings& warnings) {
  double sum = 0;
  for (const TensorEntry& tensor : checkpoint.tensors) sum += static_cast<double>(tensor.length_bytes);
  if (index.total_bytes && *index.total_bytes != sum)
    warnings.add("{}: metadata.total_size is {:.0f}, the tensors take {:.0f} bytes", index_path, *index.total_bytes,
                 sum);
}

Result<SafetensorsIndex> read_index(const std::string& path, HeaderHash& hash) {
  HR_TRY(const std::string text, read_json_file(path, kMaxIndexBytes, ErrorCode::kSafetensorsSet, hash));
  return parse_safetensors_index(text, path);
}

// `given`: the shard that the user named, if it was one.
Result<Checkpoint> open_set(const std::string& index_path, const std::optional<std::string>& given,
                            Warnings& warnings) {
  const std::string directory = directory_of(index_path);
  HR_TRY_STATUS(check_config(directory));
  Checkpoint out;
  out.kind = ContainerKind::kSafetensors;
  HeaderHash hash;
  HR_TRY(out.metadata, read_configs(directory, hash));
  HR_TRY(const SafetensorsIndex index, read_index(index_path, hash));
  if (given && !index.shards.contains(*given))
    return fail(ErrorCode::kSafetensorsSet, "{}: is not among the shards that {} names", in(directory, *given),
                index_path);
  HR_TRY_STATUS(check_shards_exist(index, directory, index_path));
  for (const std::string& shard : index.shards) {
    HR_TRY(const InputFile file, InputFile::open(in(directory, shard)));
    HR_TRY(auto part, read_safetensors(file, hash));
    HR_TRY_STATUS(check_shard(part, shard, index));
    HR_TRY_STATUS(append(std::move(part), out));
  }
  HR_TRY_STATUS(check_complete(out, index, index_path));
  check_total(out, index, index_path, warnings);
  out.header_xxh3 = hash.hex();
  return out;
}

// `x-00002-of-00003.safetensors` -> `x.safetensors.index.json`; nullopt for other names, and for the only shard of one.
std::optional<std::string> index_of_shard(std::string_view path) {
  constexpr std::string_view kShape = "-00000-of-00000.safetensors";
  if (path.size() <= kShape.size()) return std::nullopt;
  std::string tail(path.substr(path.size() - kShape.size()));
  const bool only = tail.substr(10, 5) == "00001";
  for (char& c : tail)
    if (c >= '0' && c <= '9') c = '0';
  std::string index = std::string(path.substr(0, path.size() - kShape.size())) + std::string(kIndexTail);
  if (tail != kShape || (only && !is_there(index))) return std::nullopt;
  return index;
}

}  // namespace

bool is_index_name(std::string_view path) { return path.ends_with(kIndexTail); }

Result<Checkpoint> open_hf_file(const std::string& path, Warnings& warnings) {
  if (is_index_name(path)) return open_set(path, std::nullopt, warnings);
  const auto index = index_of_shard(path);
  if (!index) return open_whole(path);
  if (!is_there(*index))
    return fail(ErrorCode::kSafetensorsSet, "{}: named as one shard of several, and there is no index: {}", path,
                *index);
  return open_set(*index, fs::path(path).filename().string(), warnings);
}

Result<Checkpoint> open_hf_directory(const std::string& directory, Warnings& warnings) {
  const bool whole = is_there(in(directory, kWhole));
  const bool index = is_there(in(directory, kIndex));
  if (whole && index) {
    // Some programs write an index even of one file.
    HeaderHash unused;
    HR_TRY(const SafetensorsIndex both, read_index(in(directory, kIndex), unused));
    if (both.shards.size() == 1 && both.shards.contains(kWhole)) return open_hf_file(in(directory, kIndex), warnings);
    return fail(ErrorCode::kNotACheckpoint, "{}: holds both {} and {}, which names other files: name the one meant",
                directory, kWhole, kIndex);
  }
  if (!whole && !index)
    return not_a_checkpoint(directory, fmt::format("there is neither {} nor {} in the directory", kWhole, kIndex));
  return open_hf_file(in(directory, whole ? kWhole : kIndex), warnings);
}

}  // namespace headrace
