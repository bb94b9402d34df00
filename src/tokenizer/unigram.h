// Unigram language models (Kudo, arXiv:1804.10959): the pieces with the best sum of scores that spell a word.
#pragma once

#include <memory>
#include <optional>

#include "tokenizer/bpe.h"
#include "tokenizer/byte_trie.h"

namespace headrace {

struct UnigramSpec {
  ByteTrie pieces;             // values are ids
  std::vector<double> scores;  // by id
  double unknown_score{};      // of a character that no piece spells
  int32_t unknown{};           // the token of a run of them
  std::string unknown_piece;   // its spelling, which is it even where bytes are
  // The tokens of all bytes, in place of the unknown token.
  std::optional<std::array<int32_t, 256>> byte_ids;
};
[[nodiscard]] std::unique_ptr<WordModel> make_unigram(UnigramSpec spec);

}  // namespace headrace
