#include "tokenizer/piece_index.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <bit>

namespace headrace {

PieceIndex::PieceIndex(std::span<const std::string> pieces)
    : pieces_(pieces), slots_(std::bit_ceil(2 * pieces.size() + 2), -1) {
  const size_t mask = slots_.size() - 1;
  for (size_t id = 0; id < pieces.size(); ++id) {
    const std::string& piece = pieces[id];
    if (piece.empty()) continue;
    longest_ = std::max(longest_, piece.size());
    size_t slot = XXH3_64bits(piece.data(), piece.size()) & mask;
    while (slots_[slot] >= 0 && pieces[static_cast<size_t>(slots_[slot])] != piece) slot = (slot + 1) & mask;
    if (slots_[slot] < 0) {
      slots_[slot] = static_cast<int32_t>(id);
    } else if (!duplicate_) {
      duplicate_ = static_cast<int32_t>(id);
    }
  }
}

int32_t PieceIndex::find(std::string_view piece) const {
  if (piece.empty() || piece.size() > longest_) return -1;
  const size_t mask = slots_.size() - 1;
  size_t slot = XXH3_64bits(piece.data(), piece.size()) & mask;
  while (slots_[slot] >= 0 && pieces_[static_cast<size_t>(slots_[slot])] != piece) slot = (slot + 1) & mask;
  return slots_[slot];
}

}  // namespace headrace
