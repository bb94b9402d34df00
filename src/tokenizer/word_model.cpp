#include "tokenizer/word_model.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <limits>

namespace headrace {
namespace {

constexpr size_t kSlots = size_t{1} << 15;
constexpr size_t kLongestWord = 64;            // bytes
constexpr size_t kMostText = size_t{4} << 20;  // of all words ever stored; a text of many rare words stops here

}  // namespace

bool WordCache::append(std::string_view word, std::vector<int64_t>& out) {
  if (!enabled_ || word.size() > kLongestWord || word.empty()) return false;
  hash_ = XXH3_64bits(word.data(), word.size());
  if (slots_.empty()) return false;
  const Slot& slot = slots_[hash_ % kSlots];
  if (slot.hash != hash_ || slot.text_bytes != word.size() ||
      word != std::string_view(text_).substr(slot.text_at, slot.text_bytes))
    return false;
  for (size_t i = 0; i < slot.id_count; ++i) out.push_back(ids_[slot.ids_at + i]);
  return true;
}

void WordCache::store(std::string_view word, std::span<const int64_t> ids) {
  if (!enabled_ || word.size() > kLongestWord || word.empty() || text_.size() > kMostText) return;
  if (slots_.empty()) slots_.resize(kSlots);
  slots_[hash_ % kSlots] = {.hash = hash_,
                            .text_at = static_cast<uint32_t>(text_.size()),
                            .ids_at = static_cast<uint32_t>(ids_.size()),
                            .text_bytes = static_cast<uint16_t>(word.size()),
                            .id_count = static_cast<uint16_t>(ids.size())};
  text_ += word;
  for (const int64_t id : ids) ids_.push_back(static_cast<int32_t>(id));
}

}  // namespace headrace
