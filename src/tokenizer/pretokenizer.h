// Cuts a text into words, which the model encodes one by one.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "tokenizer/regex.h"

namespace headrace {

// What becomes of the matches of a pattern (tokenizers: SplitDelimiterBehavior).
enum class SplitBehavior : uint8_t {
  kRemoved,             // only what lies between them is kept
  kIsolated,            // matches and what lies between them are words
  kMergedWithPrevious,  // a match belongs to the word before it
  kMergedWithNext,      // ... to the word after it
  kContiguous,          // neighbouring matches are one word
};

struct SplitStage {
  Regex regex;
  SplitBehavior behavior{};
  bool invert = false;  // what the pattern does not match counts as the match
};
// A space before every piece that does not start with one.
struct PrefixSpaceStage {};
// SentencePiece's way of writing spaces.
struct MetaspaceStage {
  enum class Prepend : uint8_t { kAlways, kFirst, kNever };
  std::string replacement;  // one character
  Prepend prepend{};        // where no replacement stands already; first: at the start of the whole text
  bool split = true;        // every replacement starts a word
};
using SplitterStage = std::variant<SplitStage, PrefixSpaceStage, MetaspaceStage>;

// A word, and whether it starts the whole text.
struct Word {
  std::string_view text;
  bool first{};
};
using WordSink = std::function<Status(const Word&)>;

// One for each text: it holds what matching needs.
class Splitter {
 public:
  explicit Splitter(const std::vector<SplitterStage>& stages);
  // Every stage cuts what the one before left whole. Empty words are dropped. `text` is UTF-8 where a stage is a
  // SplitStage. Errors: of the sink; kInput (a pattern gives up).
  [[nodiscard]] Status run(const Word& text, const WordSink& sink) { return run_stage(0, text, sink); }

 private:
  [[nodiscard]] Status run_stage(size_t stage, const Word& word, const WordSink& sink);
  [[nodiscard]] Status split(size_t stage, const SplitStage& rule, const Word& word, const WordSink& sink);
  [[nodiscard]] Status metaspace(size_t stage, const MetaspaceStage& rule, const Word& word, const WordSink& sink);

  const std::vector<SplitterStage>& stages_;
  std::vector<Matcher> matchers_;   // of the SplitStages, in order
  std::vector<size_t> matcher_of_;  // by stage
};

}  // namespace headrace
