// Token ids by piece, in one array of ids: the pieces stay where they are.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

class PieceIndex {
 public:
  PieceIndex() = default;
  // `pieces`, by id, must outlive the index and stay where they are. Empty ones are not found. Of equal ones the first
  // is; `duplicate()` tells of the second.
  explicit PieceIndex(std::span<const std::string> pieces);

  // -1 without.
  [[nodiscard]] int32_t find(std::string_view piece) const;
  // The first id whose piece another id has already.
  [[nodiscard]] std::optional<int32_t> duplicate() const { return duplicate_; }
  [[nodiscard]] size_t longest_bytes() const { return longest_; }

 private:
  std::span<const std::string> pieces_;
  std::vector<int32_t> slots_;  // -1: free; a power of two of them, at most half of them used
  size_t longest_ = 0;
  std::optional<int32_t> duplicate_;
};

}  // namespace headrace
