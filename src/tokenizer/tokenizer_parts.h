// What a tokenizer is made of, in the order in which a text meets it. Readers of files fill it in; nobody changes it
// after.
//
//   text -> added tokens -> normalizers -> added tokens that want a normal text -> splitters -> model -> frame
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/decoder_steps.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/piece_index.h"
#include "tokenizer/pieces.h"
#include "tokenizer/pretokenizer.h"
#include "tokenizer/word_model.h"

namespace headrace {

struct TokenizerParts {
  TokenizerParts() = default;
  TokenizerParts(const TokenizerParts&) = delete;
  TokenizerParts& operator=(const TokenizerParts&) = delete;

  // By id. An id without a piece (a hole in a tokenizer.json) is empty.
  std::vector<std::string> pieces;
  std::vector<PieceType> types;
  PieceIndex index;  // of pieces

  std::optional<int64_t> bos;
  std::vector<int64_t> ends;

  // Encoding. Where it is refused, the rest of this block is empty.
  std::optional<Error> refused;
  bool needs_utf8 = true;  // whether bytes that are no UTF-8 become U+FFFD first
  AddedTokens added;
  Normalizers normalizers;
  AddedTokens added_normalized;
  std::vector<SplitterStage> splitters;
  std::vector<std::string> model_pieces;  // what pieces are to the model: bytes, or without the added ones
  PieceIndex model_index;                 // of model_pieces, where the model looks there
  std::unique_ptr<WordModel> model;
  std::vector<int64_t> prefix, suffix;  // the frame that add_special puts around

  // Decoding. Types other than normal and byte are spelt as they are in a GGUF.
  std::vector<DecoderStep> decoder;
  bool verbatim_added = false;  // only normal pieces go through the decoder
};

}  // namespace headrace
