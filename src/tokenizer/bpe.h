// Byte-pair models, in the three shapes that files have: over bytes with ranked merges (GPT-2), over characters with
// ranked merges, and over characters with scores, where whatever spells a piece may merge (SentencePiece).
#pragma once

#include <array>
#include <memory>

#include "tokenizer/merge_table.h"
#include "tokenizer/merging.h"
#include "tokenizer/piece_index.h"
#include "tokenizer/word_model.h"

namespace headrace {

// What becomes of a symbol that no piece spells, when its word is done.
struct SymbolFallback {
  std::array<int32_t, 256> byte_ids = [] {  // -1: none
    std::array<int32_t, 256> ids{};
    ids.fill(-1);
    return ids;
  }();
  bool use_bytes = false;            // its bytes' tokens
  std::optional<int32_t> unknown{};  // else this token; else nothing
  bool fuse_unknown = false;         // one for a run of them
  // Whether all this happens before merging, so that neighbours of a symbol that becomes nothing may meet.
  bool before_merging = false;
};

// Byte-level merges over pieces that were turned into bytes.
struct ByteBpeSpec {
  std::span<const std::string> byte_pieces;  // by id, outlives the model; empty: not reachable by merges
  PieceIndex index;                          // of byte_pieces
  MergeTable merges;
  bool whole_words = false;  // a word that is a piece is that piece, whatever the merges say
  SymbolFallback fallback;   // byte_ids say what a byte is at the start
};
[[nodiscard]] std::unique_ptr<WordModel> make_byte_bpe(ByteBpeSpec spec);

struct CharacterBpeSpec {
  std::span<const std::string> pieces;  // by id, outlive the model
  const PieceIndex* index = nullptr;    // of pieces, outlives the model
  // One of the two: ranked merges, or a rank for each id (the best score is rank 0, equal scores are equal ranks).
  std::optional<MergeTable> merges;
  std::vector<uint32_t> ranks;
  bool whole_words = false;
  SymbolFallback fallback;
};
[[nodiscard]] std::unique_ptr<WordModel> make_character_bpe(CharacterBpeSpec spec);

}  // namespace headrace
