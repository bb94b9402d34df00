// What two neighbouring symbols become.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

namespace headrace {

struct Merge {
  static constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();
  uint32_t rank = kNever;  // lower ones are done first
  int32_t id = -1;         // of the token they become
};

// Merges by the ids of both sides. Open addressing over a power of two of slots, at most half of them used.
class MergeTable {
 public:
  MergeTable() : MergeTable(0) {}
  explicit MergeTable(size_t merges) : slots_(std::bit_ceil(2 * merges + 2)) {}

  // The first of equal pairs stays. At most as many as announced.
  void add(int32_t left, int32_t right, Merge merge) {
    Slot& slot = slots_[place(key_of(left, right))];
    if (slot.merge.rank == Merge::kNever) slot = {.key = key_of(left, right), .merge = merge};
  }
  // Sides may be -1, which no merge has.
  [[nodiscard]] Merge find(int32_t left, int32_t right) const { return slots_[place(key_of(left, right))].merge; }

 private:
  struct Slot {
    uint64_t key{};
    Merge merge;  // rank kNever: free
  };
  static uint64_t key_of(int32_t left, int32_t right) {
    return uint64_t{static_cast<uint32_t>(left)} << 32U | static_cast<uint32_t>(right);
  }
  [[nodiscard]] size_t place(uint64_t key) const {
    const size_t mask = slots_.size() - 1;
    size_t slot = (key * 0x9E3779B97F4A7C15U >> 20U ^ key) * 0xD6E8FEB86659FD93U >> 24U & mask;
    while (slots_[slot].merge.rank != Merge::kNever && slots_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }
  std::vector<Slot> slots_;
};

}  // namespace headrace
