#include "exporter/source_checks.h"

#include <algorithm>
#include <cmath>

#include "formats/file.h"
#include "formats/same_tensor.h"

namespace headrace {

namespace {

constexpr const char* kHead = "output.weight";
constexpr const char* kEmbedding = "token_embd.weight";
constexpr uint64_t kRunBytes = uint64_t{1} << 20;

void take_out(Checkpoint& checkpoint, const std::string& name) {
  std::erase_if(checkpoint.tensors, [&](const TensorEntry& entry) { return entry.name == name; });
  checkpoint.by_name.clear();
  for (size_t i = 0; i < checkpoint.tensors.size(); ++i) checkpoint.by_name[checkpoint.tensors[i].name] = i;
}

Status check_factors(const Checkpoint& checkpoint, const SourceRange& source) {
  HR_TRY(const InputFile file, InputFile::reopen(checkpoint.files[source.file]));
  const BlockTypeInfo& type = info(source.type);
  const uint64_t run_bytes =
      kRunBytes / static_cast<uint64_t>(type.block_bytes) * static_cast<uint64_t>(type.block_bytes);
  std::vector<std::byte> bytes;
  std::vector<float> values;
  size_t before = 0;
  for (uint64_t at = 0; at < source.length_bytes; at += bytes.size()) {
    bytes.resize(std::min(run_bytes, source.length_bytes - at));
    values.resize(bytes.size() / static_cast<size_t>(type.block_bytes) * static_cast<size_t>(type.block_elements));
    HR_TRY_STATUS(file.read_at(source.offset_bytes + at, bytes));
    decode_f32(source.type, bytes, values);
    for (size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(values[i]) || values[i] <= 0)
        return fail(ErrorCode::kConfigValue, "tensor '{}' is {} at index {}, expected a finite number above 0",
                    source.tensor, values[i], before + i);
    before += values.size();
  }
  return {};
}

}  // namespace

Status drop_copied_head(Checkpoint& checkpoint, Warnings& warnings) {
  const TensorEntry* head = checkpoint.find(kHead);
  const TensorEntry* embedding = checkpoint.find(kEmbedding);
  if (checkpoint.kind != ContainerKind::kGguf || head == nullptr || embedding == nullptr) return {};
  HR_TRY(const Sameness same, compare_tensors(checkpoint, *head, *embedding));
  if (same != Sameness::kSame) return {};
  warnings.add("tensor '{}' is a copy of '{}': the matrix is stored once", kHead, kEmbedding);
  take_out(checkpoint, kHead);
  return {};
}

Status check_rope_factors(const Checkpoint& checkpoint, const Module& module) {
  for (const Parameter& parameter : module.parameters)
    if (parameter.role == Role::kRopeFactors)
      for (const SourceRange& source : module.recipes[parameter.recipe].sources)
        HR_TRY_STATUS(check_factors(checkpoint, source));
  return {};
}

}  // namespace headrace
