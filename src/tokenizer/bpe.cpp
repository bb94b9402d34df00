#include "tokenizer/bpe.h"

#include <limits>

#include "tokenizer/adjacency.h"
#include "tokenizer/utf8.h"

namespace headrace {
namespace {

Status check_size(std::string_view word) {
  if (word.size() < size_t{std::numeric_limits<int32_t>::max()}) return {};
  return fail(ErrorCode::kInput, "text: a word of {} bytes, expected less than 2 GiB", word.size());
}

struct RankedPairs {
  const MergeTable& merges;
  Merge operator()(const MergeSymbol& left, const MergeSymbol& right) const { return merges.find(left.id, right.id); }
};

// Any neighbours that together spell a piece.
struct ScoredPairs {
  const PieceIndex& index;
  const std::vector<uint32_t>& ranks;
  std::string_view word;
  Merge operator()(const MergeSymbol& left, const MergeSymbol& right) const {
    const int32_t id = index.find(word.substr(left.begin, right.end - left.begin));
    return id < 0 ? Merge{} : Merge{.rank = ranks[static_cast<size_t>(id)], .id = id};
  }
};

// Appends what stands for a symbol without a piece. `fused`: whether the symbol before was such a one.
void append_fallback(const SymbolFallback& fallback, std::string_view bytes, bool fused, std::vector<int64_t>& out) {
  if (fallback.use_bytes) {
    for (const char byte : bytes) out.push_back(fallback.byte_ids[static_cast<unsigned char>(byte)]);
  } else if (fallback.unknown && !(fused && fallback.fuse_unknown)) {
    out.push_back(*fallback.unknown);
  }
}

void append_ids(const SymbolFallback& fallback, std::string_view word, const std::vector<MergeSymbol>& symbols,
                std::vector<int64_t>& out) {
  bool fused = false;
  for (const MergeSymbol& symbol : symbols) {
    const bool known = symbol.id >= 0;
    if (known)
      out.push_back(symbol.id);
    else
      append_fallback(fallback, word.substr(symbol.begin, symbol.end - symbol.begin), fused, out);
    fused = !known;
  }
}

// Asks the cache first and tells it after.
template <class Encode>
void with_cache(std::string_view word, std::vector<int64_t>& out, WordScratch& scratch, const Encode& encode) {
  if (scratch.cache.append(word, out)) return;
  const size_t before = out.size();
  encode();
  scratch.cache.store(word, std::span(out).subspan(before));
}

// Turns symbols without a piece into what stands for them, or into nothing, before merging.
void replace_unknown(const SymbolFallback& fallback, std::string_view word, std::vector<MergeSymbol>& symbols) {
  std::vector<MergeSymbol> out;
  out.reserve(symbols.size());
  std::vector<int64_t> ids;
  bool fused = false;
  for (const MergeSymbol& symbol : symbols) {
    if (symbol.id >= 0) {
      out.push_back(symbol);
    } else {
      ids.clear();
      append_fallback(fallback, word.substr(symbol.begin, symbol.end - symbol.begin), fused, ids);
      // Bytes are narrower than their character; the spans matter only for being distinct and in order.
      const bool bytes = ids.size() > 1;
      for (uint32_t i = 0; i < ids.size(); ++i)
        out.push_back({.id = static_cast<int32_t>(ids[i]),
                       .begin = symbol.begin + (bytes ? i : 0),
                       .end = bytes ? symbol.begin + i + 1 : symbol.end});
    }
    fused = symbol.id < 0;
  }
  symbols.swap(out);
}

class ByteBpe final : public WordModel {
 public:
  explicit ByteBpe(ByteBpeSpec spec) : spec_(std::move(spec)) {}

  Status encode(std::string_view word, std::vector<int64_t>& out, WordScratch& scratch) const override {
    HR_TRY_STATUS(check_size(word));
    with_cache(word, out, scratch, [&] { merge(word, out); });
    return {};
  }

 private:
  void merge(std::string_view word, std::vector<int64_t>& out) const {
    if (spec_.whole_words) {
      if (const int32_t id = spec_.index.find(word); id >= 0) {
        out.push_back(id);
        return;
      }
    }
    std::vector<MergeSymbol> symbols(word.size());
    bool unknown = false;
    for (uint32_t i = 0; i < word.size(); ++i) {
      const int32_t id = spec_.fallback.byte_ids[static_cast<unsigned char>(word[i])];
      symbols[i] = {.id = id, .begin = i, .end = i + 1};
      unknown |= id < 0;
    }
    if (unknown && spec_.fallback.before_merging) replace_unknown(spec_.fallback, word, symbols);
    merge_symbols(symbols, RankedPairs{spec_.merges});
    append_ids(spec_.fallback, word, symbols, out);
  }

  ByteBpeSpec spec_;
};

class CharacterBpe final : public WordModel {
 public:
  explicit CharacterBpe(CharacterBpeSpec spec) : spec_(std::move(spec)), neighbours_(spec_.pieces) {}

  Status encode(std::string_view word, std::vector<int64_t>& out, WordScratch& scratch) const override {
    HR_TRY_STATUS(check_size(word));
    if (spec_.whole_words) {
      if (const int32_t id = spec_.index->find(word); id >= 0) {
        out.push_back(id);
        return {};
      }
    }
    if (!may_cut()) {
      with_cache(word, out, scratch, [&] { merge(word, out); });
      return {};
    }
    // Nothing merges across two characters that are neighbours in no piece, so the parts on both sides of them are
    // words of their own: short ones, which the cache knows.
    while (!word.empty()) {
      const std::string_view part = word.substr(0, neighbours_.first_part(word));
      with_cache(part, out, scratch, [&] { merge(part, out); });
      word.remove_prefix(part.size());
    }
    return {};
  }

 private:
  // Unknown tokens that fuse, and characters that vanish, let the parts touch each other.
  [[nodiscard]] bool may_cut() const {
    return spec_.fallback.use_bytes || (spec_.fallback.unknown && !spec_.fallback.fuse_unknown);
  }

  void merge(std::string_view word, std::vector<int64_t>& out) const {
    std::vector<MergeSymbol> symbols;
    symbols.reserve(word.size());
    bool unknown = false;
    for (size_t at = 0; at < word.size();) {
      const size_t length = character_length(word.substr(at));
      const int32_t id = spec_.index->find(word.substr(at, length));
      symbols.push_back({.id = id, .begin = static_cast<uint32_t>(at), .end = static_cast<uint32_t>(at + length)});
      unknown |= id < 0;
      at += length;
    }
    if (unknown && spec_.fallback.before_merging) replace_unknown(spec_.fallback, word, symbols);
    if (spec_.merges)
      merge_symbols(symbols, RankedPairs{*spec_.merges});
    else
      merge_symbols(symbols, ScoredPairs{*spec_.index, spec_.ranks, word});
    append_ids(spec_.fallback, word, symbols, out);
  }

  CharacterBpeSpec spec_;
  NeighbourSet neighbours_;
};

}  // namespace

std::unique_ptr<WordModel> make_byte_bpe(ByteBpeSpec spec) { return std::make_unique<ByteBpe>(std::move(spec)); }

std::unique_ptr<WordModel> make_character_bpe(CharacterBpeSpec spec) {
  return std::make_unique<CharacterBpe>(std::move(spec));
}

}  // namespace headrace
