// SentencePiece's precompiled map of characters: a double-array trie (Darts) whose values are places in a pool of
// strings that end in NUL. First four bytes: the size of the trie in bytes, little endian.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headrace {

class Charsmap {
 public:
  Charsmap() = default;  // maps nothing
  // Messages start with `place: `. Errors: kConfigValue.
  [[nodiscard]] static Result<Charsmap> parse(std::string_view bytes, std::string_view place);

  struct Entry {
    size_t length{};  // bytes of the text it takes the place of
    std::string_view replacement;
  };
  // The longest or the shortest entry that the text starts with. A trie that points outside itself ends there.
  // Errors: kConfigValue (an entry that points outside the pool).
  [[nodiscard]] Result<std::optional<Entry>> longest(std::string_view text) const { return find(text, true); }
  [[nodiscard]] Result<std::optional<Entry>> shortest(std::string_view text) const { return find(text, false); }
  [[nodiscard]] bool empty() const { return units_.empty(); }

 private:
  [[nodiscard]] Result<std::optional<Entry>> find(std::string_view text, bool longest) const;
  std::vector<uint32_t> units_;
  std::string pool_;
  std::string place_;
};

}  // namespace headrace
