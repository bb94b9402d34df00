#include "exporter/source_checks.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "formats/file.h"

namespace headrace {

namespace {

constexpr const char* kHead = "output.weight";
constexpr const char* kEmbedding = "token_embd.weight";
constexpr uint64_t kRunBytes = uint64_t{1} << 20;
constexpr uint64_t kProbes = 16;
constexpr uint64_t kProbeBytes = uint64_t{4} << 10;

// Two byte ranges of equal length, read side by side.
class Pair {
 public:
  static Result<Pair> open(const Checkpoint& checkpoint, const TensorEntry& a, const TensorEntry& b) {
    HR_TRY(InputFile file_a, InputFile::reopen(checkpoint.files[a.file]));
    HR_TRY(InputFile file_b, InputFile::reopen(checkpoint.files[b.file]));
    return Pair(a, b, std::move(file_a), std::move(file_b));
  }

  Result<bool> equal_at(uint64_t offset_bytes, uint64_t length_bytes) {
    in_a_.resize(length_bytes);
    in_b_.resize(length_bytes);
    HR_TRY_STATUS(file_a_.read_at(a_.offset_bytes + offset_bytes, in_a_));
    HR_TRY_STATUS(file_b_.read_at(b_.offset_bytes + offset_bytes, in_b_));
    return std::memcmp(in_a_.data(), in_b_.data(), length_bytes) == 0;
  }

  // Of what equal_at read last.
  [[nodiscard]] bool all_zero() const {
    return std::all_of(in_a_.begin(), in_a_.end(), [](std::byte b) { return b == std::byte{}; });
  }

 private:
  Pair(const TensorEntry& a, const TensorEntry& b, InputFile file_a, InputFile file_b)
      : a_(a), b_(b), file_a_(std::move(file_a)), file_b_(std::move(file_b)) {}

  const TensorEntry& a_;
  const TensorEntry& b_;
  InputFile file_a_, file_b_;
  std::vector<std::byte> in_a_, in_b_;
};

Result<bool> same_matrix(const Checkpoint& checkpoint, const TensorEntry& a, const TensorEntry& b) {
  if (a.type != b.type || a.shape != b.shape || a.length_bytes == 0) return false;
  HR_TRY(Pair pair, Pair::open(checkpoint, a, b));
  const uint64_t length = a.length_bytes;
  const uint64_t probe = std::min(kProbeBytes, length);
  bool zeros = true;
  for (uint64_t i = 0; i < kProbes; ++i) {
    HR_TRY(const bool equal, pair.equal_at((length - probe) / kProbes * i, probe));
    if (!equal) return false;
    zeros = zeros && pair.all_zero();
  }
  if (zeros) return false;
  for (uint64_t at = 0; at < length; at += kRunBytes) {
    HR_TRY(const bool equal, pair.equal_at(at, std::min(kRunBytes, length - at)));
    if (!equal) return false;
  }
  return true;
}

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
  HR_TRY(const bool same, same_matrix(checkpoint, *head, *embedding));
  if (!same) return {};
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
