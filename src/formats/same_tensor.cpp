#include "formats/same_tensor.h"

#include <algorithm>
#include <cstring>

#include "formats/file.h"

namespace headrace {

namespace {

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

}  // namespace

Result<Sameness> compare_tensors(const Checkpoint& checkpoint, const TensorEntry& a, const TensorEntry& b) {
  if (a.type != b.type || a.shape != b.shape || a.length_bytes == 0) return Sameness::kDifferent;
  HR_CHECK(a.file < checkpoint.files.size() && b.file < checkpoint.files.size());
  HR_TRY(Pair pair, Pair::open(checkpoint, a, b));
  const uint64_t length = a.length_bytes;
  const uint64_t probe = std::min(kProbeBytes, length);
  bool only_zeros = true;
  for (uint64_t i = 0; i < kProbes; ++i) {
    HR_TRY(const bool equal, pair.equal_at((length - probe) / kProbes * i, probe));
    if (!equal) return Sameness::kDifferent;
    only_zeros = only_zeros && pair.all_zero();
  }
  if (only_zeros) return Sameness::kHoles;
  for (uint64_t at = 0; at < length; at += kRunBytes) {
    HR_TRY(const bool equal, pair.equal_at(at, std::min(kRunBytes, length - at)));
    if (!equal) return Sameness::kDifferent;
  }
  return Sameness::kSame;
}

}  // namespace headrace
