#include "tokenizer/merging.h"

#include <rapidcheck.h>

#include "base/testing.h"

namespace headrace {
namespace {

struct TablePairs {
  const MergeTable& table;
  Merge operator()(const MergeSymbol& left, const MergeSymbol& right) const { return table.find(left.id, right.id); }
};

std::vector<MergeSymbol> word_of(const std::vector<int>& ids) {
  std::vector<MergeSymbol> word;
  for (size_t i = 0; i < ids.size(); ++i)
    word.push_back({.id = ids[i], .begin = static_cast<uint32_t>(i), .end = static_cast<uint32_t>(i + 1)});
  return word;
}

std::vector<int32_t> ids_of(const std::vector<MergeSymbol>& word) {
  std::vector<int32_t> ids;
  for (const MergeSymbol& symbol : word) ids.push_back(symbol.id);
  return ids;
}

// The definition: search the whole word for the lowest rank, the leftmost of equals, again and again.
std::vector<int32_t> by_definition(std::vector<int32_t> ids, const MergeTable& table) {
  while (true) {
    size_t best = ids.size();
    Merge merge;
    for (size_t i = 0; i + 1 < ids.size(); ++i)
      if (const Merge here = table.find(ids[i], ids[i + 1]); here.rank < merge.rank) {
        merge = here;
        best = i;
      }
    if (best == ids.size()) return ids;
    ids[best] = merge.id;
    ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
}

TEST(Merging, ShortAndLongAgreeWithTheDefinition) {
  EXPECT_TRUE(rc::check([] {
    // Tokens 0 to 3 are single; each merge makes the next one of any two before it.
    const auto merges = *rc::gen::inRange(0, 24);
    MergeTable table(static_cast<size_t>(merges));
    for (int32_t i = 0; i < merges; ++i)
      table.add(*rc::gen::inRange(0, 4 + i), *rc::gen::inRange(0, 4 + i),
                {.rank = static_cast<uint32_t>(*rc::gen::inRange(0, 12)), .id = 4 + i});
    const auto ids =
        *rc::gen::container<std::vector<int>>(*rc::gen::inRange<size_t>(0, kShortWord + 1), rc::gen::inRange(-1, 4));
    const auto expected = by_definition({ids.begin(), ids.end()}, table);
    auto word = word_of(ids);
    merge_short(word, TablePairs{table});
    RC_ASSERT(ids_of(word) == expected);
    word = word_of(ids);
    const TablePairs pairs{table};
    LongMerger<TablePairs>(word, pairs).run();
    RC_ASSERT(ids_of(word) == expected);
    uint32_t at = 0;
    for (const MergeSymbol& symbol : word) {
      RC_ASSERT(symbol.begin == at);
      at = symbol.end;
    }
    RC_ASSERT(at == ids.size());
  }));
}

TEST(Merging, KeepsTheFirstOfEqualPairs) {
  MergeTable table(2);
  table.add(1, 2, {.rank = 0, .id = 7});
  table.add(1, 2, {.rank = 1, .id = 8});
  EXPECT_EQ(table.find(1, 2).id, 7);
  EXPECT_EQ(table.find(2, 1).rank, Merge::kNever);
  EXPECT_EQ(table.find(-1, 2).rank, Merge::kNever);
}

TEST(Merging, OneLongWordTakesNoSquareTime) {
  MergeTable table(20);
  for (int32_t i = 0; i < 20; ++i) table.add(i, i, {.rank = static_cast<uint32_t>(i), .id = i + 1});
  std::vector<MergeSymbol> word = word_of(std::vector<int>(size_t{1} << 20, 0));
  merge_symbols(word, TablePairs{table});
  EXPECT_EQ(ids_of(word), std::vector<int32_t>{20});
}

}  // namespace
}  // namespace headrace
