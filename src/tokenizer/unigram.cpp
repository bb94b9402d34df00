#include "tokenizer/unigram.h"

#include <algorithm>
#include <limits>

#include "tokenizer/utf8.h"

namespace headrace {
namespace {

// The best way to spell the word up to a place: its last piece.
struct Best {
  double score = -std::numeric_limits<double>::max();
  uint32_t begin = 0;
  int32_t id = -1;  // -1: a character without a piece
};

class Unigram final : public WordModel {
 public:
  explicit Unigram(UnigramSpec spec) : spec_(std::move(spec)) {}

  Status encode(std::string_view word, std::vector<int64_t>& out, WordScratch& scratch) const override {
    if (word.size() >= size_t{std::numeric_limits<int32_t>::max()})
      return fail(ErrorCode::kInput, "text: a word of {} bytes, expected less than 2 GiB", word.size());
    if (word.empty() || scratch.cache.append(word, out)) return {};
    const size_t before = out.size();
    const std::vector<Best> best = spell(word);
    append_path(word, best, out);
    scratch.cache.store(word, std::span(out).subspan(before));
    return {};
  }

 private:
  [[nodiscard]] std::vector<Best> spell(std::string_view word) const {
    std::vector<Best> best(word.size() + 1);
    best[0].score = 0;
    const auto offer = [&best](uint32_t begin, size_t end, int32_t id, double score) {
      if (score > best[end].score) best[end] = {.score = score, .begin = begin, .id = id};
    };
    for (uint32_t begin = 0; begin < word.size();) {
      const size_t character = character_length(word.substr(begin));
      const double so_far = best[begin].score;
      bool alone = false;  // a piece spells just this character
      uint32_t node = spec_.pieces.next(ByteTrie::kRoot, word[begin]);
      for (size_t end = begin + 1; node != ByteTrie::kNone; ++end) {
        if (const int32_t id = spec_.pieces.value(node); id >= 0) {
          alone |= end - begin == character;
          offer(begin, end, id, so_far + spec_.scores[static_cast<size_t>(id)]);
        }
        if (end == word.size()) break;
        node = spec_.pieces.next(node, word[end]);
      }
      if (!alone) offer(begin, begin + character, -1, so_far + spec_.unknown_score);
      begin += static_cast<uint32_t>(character);
    }
    return best;
  }

  void append_path(std::string_view word, const std::vector<Best>& best, std::vector<int64_t>& out) const {
    std::vector<uint32_t> ends;  // of the pieces, the last one first
    for (auto end = static_cast<uint32_t>(word.size()); end > 0; end = best[end].begin) ends.push_back(end);
    uint32_t unknown_begin = 0;
    for (size_t i = ends.size(); i-- > 0;) {
      const Best& piece = best[ends[i]];
      if (piece.id >= 0 && piece.id != spec_.unknown) {
        append_unknown(word.substr(unknown_begin, piece.begin - unknown_begin), out);
        out.push_back(piece.id);
        unknown_begin = ends[i];
      }
    }
    append_unknown(word.substr(unknown_begin), out);
  }

  // A run of characters that no piece spells.
  void append_unknown(std::string_view bytes, std::vector<int64_t>& out) const {
    if (bytes.empty()) return;
    if (spec_.byte_ids && bytes != spec_.unknown_piece) {
      for (const char byte : bytes) out.push_back((*spec_.byte_ids)[static_cast<unsigned char>(byte)]);
    } else {
      out.push_back(spec_.unknown);
    }
  }

  UnigramSpec spec_;
};

}  // namespace

std::unique_ptr<WordModel> make_unigram(UnigramSpec spec) { return std::make_unique<Unigram>(std::move(spec)); }

}  // namespace headrace
