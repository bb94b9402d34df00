// Byte-pair merging of one word: of all neighbours that may merge, those with the lowest rank do, the leftmost of
// equals, until none may (Sennrich et al., arXiv:1508.07909).
//
// `Pairs` says what two symbols become: `Merge operator()(const MergeSymbol& left, const MergeSymbol& right) const`.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "tokenizer/merge_table.h"

namespace headrace {

struct MergeSymbol {
  int32_t id = -1;   // -1: no token spells it
  uint32_t begin{};  // bytes of the word
  uint32_t end{};
};

inline constexpr size_t kShortWord = 48;  // symbols; up to here looking at every pair again beats a queue

// Time in proportion to the square of the symbols. Precondition: at most kShortWord of them.
template <class Pairs>
void merge_short(std::vector<MergeSymbol>& symbols, const Pairs& pairs) {
  std::array<Merge, kShortWord> merges;
  size_t count = symbols.size();
  for (size_t i = 0; i + 1 < count; ++i) merges[i] = pairs(symbols[i], symbols[i + 1]);
  while (count > 1) {
    size_t best = 0;
    for (size_t i = 1; i + 1 < count; ++i)
      if (merges[i].rank < merges[best].rank) best = i;
    if (merges[best].rank == Merge::kNever) break;
    symbols[best] = {.id = merges[best].id, .begin = symbols[best].begin, .end = symbols[best + 1].end};
    --count;
    for (size_t i = best + 1; i < count; ++i) symbols[i] = symbols[i + 1];
    for (size_t i = best + 1; i + 1 < count; ++i) merges[i] = merges[i + 1];
    if (best + 1 < count) merges[best] = pairs(symbols[best], symbols[best + 1]);
    if (best > 0) merges[best - 1] = pairs(symbols[best - 1], symbols[best]);
  }
  symbols.resize(count);
}

// The same with a queue: time in proportion to the symbols, but for a logarithm.
template <class Pairs>
class LongMerger {
 public:
  LongMerger(std::vector<MergeSymbol>& symbols, const Pairs& pairs) : symbols_(symbols), pairs_(pairs) {
    const auto count = static_cast<uint32_t>(symbols.size());
    next_.resize(count);
    previous_.resize(count);
    for (uint32_t i = 0; i < count; ++i) {
      next_[i] = i + 1;
      previous_[i] = i - 1;
    }
  }

  void run() {
    const auto count = static_cast<uint32_t>(symbols_.size());
    for (uint32_t i = 0; i + 1 < count; ++i) add(i, i + 1);
    std::make_heap(queue_.begin(), queue_.end());
    filled_ = true;
    while (!queue_.empty()) {
      std::pop_heap(queue_.begin(), queue_.end());
      const Entry entry = queue_.back();
      queue_.pop_back();
      if (is_current(entry)) merge(entry);
    }
    std::erase_if(symbols_, [](const MergeSymbol& symbol) { return symbol.begin == symbol.end; });
  }

 private:
  struct Entry {
    Merge merge;
    uint32_t left{}, right{}, right_end{};
    // The greatest of a heap is taken first.
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.merge.rank != b.merge.rank ? a.merge.rank > b.merge.rank : a.left > b.left;
    }
  };

  void add(uint32_t left, uint32_t right) {
    const Merge merge = pairs_(symbols_[left], symbols_[right]);
    if (merge.rank == Merge::kNever) return;
    queue_.push_back({.merge = merge, .left = left, .right = right, .right_end = symbols_[right].end});
    if (filled_) std::push_heap(queue_.begin(), queue_.end());
  }
  // Both sides are still what they were: a side only grows, and the left one only by taking the right one in.
  [[nodiscard]] bool is_current(const Entry& entry) const {
    const MergeSymbol& left = symbols_[entry.left];
    const MergeSymbol& right = symbols_[entry.right];
    return left.begin != left.end && right.begin != right.end && next_[entry.left] == entry.right &&
           right.end == entry.right_end;
  }
  void merge(const Entry& entry) {
    MergeSymbol& left = symbols_[entry.left];
    MergeSymbol& right = symbols_[entry.right];
    left = {.id = entry.merge.id, .begin = left.begin, .end = right.end};
    right.begin = right.end;
    const auto count = static_cast<uint32_t>(symbols_.size());
    const uint32_t after = next_[entry.right];
    next_[entry.left] = after;
    if (after < count) {
      previous_[after] = entry.left;
      add(entry.left, after);
    }
    if (previous_[entry.left] < count) add(previous_[entry.left], entry.left);
  }

  std::vector<MergeSymbol>& symbols_;
  const Pairs& pairs_;
  std::vector<uint32_t> next_, previous_;  // beyond the last symbol: none
  std::vector<Entry> queue_;
  bool filled_ = false;
};

template <class Pairs>
void merge_symbols(std::vector<MergeSymbol>& symbols, const Pairs& pairs) {
  if (symbols.size() <= kShortWord)
    merge_short(symbols, pairs);
  else
    LongMerger<Pairs>(symbols, pairs).run();
}

}  // namespace headrace
