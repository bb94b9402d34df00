// Which two characters are neighbours inside some piece of a vocabulary.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace headrace {

// A set of pairs by hash: it may take a pair for a neighbour that is none, never the other way round.
class NeighbourSet {
 public:
  explicit NeighbourSet(std::span<const std::string> pieces);
  // Bytes of the longest start of `text` inside which all neighbours are in the set; at least one character. A byte
  // that is no part of a character is one. Precondition: text is not empty.
  [[nodiscard]] size_t first_part(std::string_view text) const;

 private:
  std::vector<uint64_t> bits_;
};

}  // namespace headrace
