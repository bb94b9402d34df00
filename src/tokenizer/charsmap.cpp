#include "tokenizer/charsmap.h"

#include <bit>
#include <cstring>

namespace headrace {
namespace {

static_assert(std::endian::native == std::endian::little);

uint32_t offset_of(uint32_t unit) { return unit >> 10U << ((unit & (1U << 9U)) >> 6U); }
uint32_t label_of(uint32_t unit) { return unit & (1U << 31U | 0xFFU); }
bool has_leaf(uint32_t unit) { return (unit >> 8U & 1U) != 0; }
uint32_t value_of(uint32_t unit) { return unit & ~(1U << 31U); }

}  // namespace

Result<Charsmap> Charsmap::parse(std::string_view bytes, std::string_view place) {
  Charsmap map;
  map.place_ = place;
  if (bytes.empty()) return map;
  uint32_t trie_bytes = 0;
  if (bytes.size() < sizeof trie_bytes)
    return fail(ErrorCode::kConfigValue, "{}: {} bytes, expected at least {}", place, bytes.size(), sizeof trie_bytes);
  std::memcpy(&trie_bytes, bytes.data(), sizeof trie_bytes);
  bytes.remove_prefix(sizeof trie_bytes);
  if (trie_bytes % sizeof(uint32_t) != 0 || trie_bytes >= bytes.size())
    return fail(ErrorCode::kConfigValue, "{}: a trie of {} bytes in {}, expected a multiple of 4 and something after",
                place, trie_bytes, bytes.size());
  map.units_.resize(trie_bytes / sizeof(uint32_t));
  std::memcpy(map.units_.data(), bytes.data(), trie_bytes);
  map.pool_ = bytes.substr(trie_bytes);
  if (map.pool_.back() != '\0') return fail(ErrorCode::kConfigValue, "{}: the last replacement does not end", place);
  return map;
}

Result<std::optional<Charsmap::Entry>> Charsmap::find(std::string_view text, bool longest) const {
  std::optional<Entry> found;
  if (units_.empty()) return found;
  uint32_t node = offset_of(units_[0]);
  for (size_t i = 0; i < text.size() && text[i] != '\0'; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    node ^= byte;
    if (node >= units_.size() || label_of(units_[node]) != byte) break;
    const uint32_t unit = units_[node];
    node ^= offset_of(unit);
    if (node >= units_.size()) break;
    if (!has_leaf(unit)) continue;
    const uint32_t at = value_of(units_[node]);
    if (at >= pool_.size())
      return fail(ErrorCode::kConfigValue, "{}: an entry at {} of a pool of {} bytes", place_, at, pool_.size());
    found = Entry{.length = i + 1, .replacement = pool_.c_str() + at};
    if (!longest) break;
  }
  return found;
}

}  // namespace headrace
