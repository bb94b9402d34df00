// Words to token ids: the last step of encoding, after normalisers and pre-tokenizers.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace headrace {

// The ids of words met before, for one text. Bounded: a word may push out another, and long ones are not kept.
class WordCache {
 public:
  // Off until then: for a short text, clearing the table costs more than it saves.
  void enable() { enabled_ = true; }
  // Appends the ids of the word and returns true if it is known.
  bool append(std::string_view word, std::vector<int64_t>& out);
  // Remembers the ids of the word that append() was just asked for in vain.
  void store(std::string_view word, std::span<const int64_t> ids);

 private:
  struct Slot {
    uint64_t hash{};
    uint32_t text_at{};
    uint32_t ids_at{};
    uint16_t text_bytes{};  // 0: free
    uint16_t id_count{};
  };
  std::vector<Slot> slots_;
  std::string text_;
  std::vector<int32_t> ids_;
  uint64_t hash_ = 0;  // of the word asked for last
  bool enabled_ = false;
};

// Room that a model works in, kept from word to word. One for each thread.
struct WordScratch {
  WordCache cache;
};

class WordModel {
 public:
  WordModel() = default;
  virtual ~WordModel() = default;
  WordModel(const WordModel&) = delete;
  WordModel& operator=(const WordModel&) = delete;
  // Appends the ids of the word, any bytes. Errors: kInput (a word of 2 GiB or more).
  [[nodiscard]] virtual Status encode(std::string_view word, std::vector<int64_t>& out, WordScratch& scratch) const = 0;
};

}  // namespace headrace
