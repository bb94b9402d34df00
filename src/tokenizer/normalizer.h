// What is done to a text before it is cut into words.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizer/characters.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/regex.h"

namespace headrace {

class Normalizer {
 public:
  Normalizer() = default;
  virtual ~Normalizer() = default;
  Normalizer(const Normalizer&) = delete;
  Normalizer& operator=(const Normalizer&) = delete;
  // `text` is UTF-8, but for those of prepend and replace. Errors: kInput, kConfigValue (a map of characters that
  // points outside itself).
  [[nodiscard]] virtual Result<std::string> apply(std::string_view text) const = 0;
};
using Normalizers = std::vector<std::unique_ptr<Normalizer>>;

// An empty text stays empty.
[[nodiscard]] std::unique_ptr<Normalizer> make_prepend(std::string prefix);
// Precondition: from is not empty.
[[nodiscard]] std::unique_ptr<Normalizer> make_replace(std::string from, std::string to);
// Matches of nothing are left alone.
[[nodiscard]] std::unique_ptr<Normalizer> make_replace(Regex from, std::string to);
[[nodiscard]] std::unique_ptr<Normalizer> make_normal_form(NormalForm form);
[[nodiscard]] std::unique_ptr<Normalizer> make_lowercase();
[[nodiscard]] std::unique_ptr<Normalizer> make_strip_accents();
[[nodiscard]] std::unique_ptr<Normalizer> make_strip(bool left, bool right);
// Grapheme by grapheme, as Hugging Face reads a map of characters.
[[nodiscard]] std::unique_ptr<Normalizer> make_precompiled(Charsmap map);

struct UnigramSpaces {
  bool add_prefix{};    // one before the first word
  bool remove_extra{};  // none at the ends, one between words, one before every word
};
// The longest entry of the map at each place, as SentencePiece and llama.cpp read it (it may be empty), and spaces as
// U+2581.
[[nodiscard]] std::unique_ptr<Normalizer> make_unigram_normalizer(Charsmap map, UnigramSpaces spaces);

}  // namespace headrace
