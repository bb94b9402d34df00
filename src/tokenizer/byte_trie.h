// Strings by their bytes, to find all that a text starts with. One flat table of edges.
#pragma once

#include <bit>
#include <cstdint>
#include <string_view>
#include <vector>

namespace headrace {

class ByteTrie {
 public:
  static constexpr uint32_t kRoot = 0;
  static constexpr uint32_t kNone = UINT32_MAX;

  ByteTrie() : edges_(kLeastEdges), values_(1, kNoValue) {}

  // The last value of equal strings stays. Precondition: value >= 0.
  void add(std::string_view text, int32_t value) {
    uint32_t node = kRoot;
    for (const char c : text) {
      Edge& edge = edges_[place(key_of(node, c))];
      if (edge.target == kNone) {
        edge = {.key = key_of(node, c), .target = static_cast<uint32_t>(values_.size())};
        values_.push_back(kNoValue);
        node = edge.target;
        if (2 * values_.size() > edges_.size()) grow();
      } else {
        node = edge.target;
      }
    }
    values_[node] = value;
  }
  // The node one byte further, or kNone.
  [[nodiscard]] uint32_t next(uint32_t node, char c) const { return edges_[place(key_of(node, c))].target; }
  // -1: no string ends here.
  [[nodiscard]] int32_t value(uint32_t node) const { return values_[node]; }

 private:
  static constexpr int32_t kNoValue = -1;
  static constexpr size_t kLeastEdges = 64;
  struct Edge {
    uint64_t key = UINT64_MAX;  // no node has it: free
    uint32_t target = kNone;
  };
  static uint64_t key_of(uint32_t node, char c) { return uint64_t{node} << 8U | static_cast<unsigned char>(c); }
  [[nodiscard]] size_t place(uint64_t key) const {
    const size_t mask = edges_.size() - 1;
    size_t at = (key * 0x9E3779B97F4A7C15U >> 24U) & mask;
    while (edges_[at].key != key && edges_[at].key != UINT64_MAX) at = (at + 1) & mask;
    return at;
  }
  void grow() {
    std::vector<Edge> old(2 * edges_.size());
    old.swap(edges_);
    for (const Edge& edge : old)
      if (edge.key != UINT64_MAX) edges_[place(edge.key)] = edge;
  }

  std::vector<Edge> edges_;
  std::vector<int32_t> values_;  // by node
};

}  // namespace headrace
