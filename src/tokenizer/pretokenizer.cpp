#include "tokenizer/pretokenizer.h"

#include <algorithm>

#include "tokenizer/utf8.h"

namespace headrace {
namespace {

// Joins matches and gaps, which come in order, into words as the behaviour says.
template <class Emit>
class Joiner {
 public:
  Joiner(SplitBehavior behavior, const Emit& emit) : behavior_(behavior), emit_(emit) {}

  Status add(Span span, bool is_match) {
    if (behavior_ == SplitBehavior::kIsolated) return emit_(span);
    if (behavior_ == SplitBehavior::kRemoved) return is_match ? Status() : emit_(span);
    if (waiting_ && joins(is_match)) {
      pending_.end = span.end;
    } else {
      if (waiting_) HR_TRY_STATUS(emit_(pending_));
      pending_ = span;
      waiting_ = true;
    }
    last_was_match_ = is_match;
    return {};
  }
  Status finish() { return waiting_ ? emit_(pending_) : Status(); }

 private:
  // Whether a span joins the one before it.
  [[nodiscard]] bool joins(bool is_match) const {
    switch (behavior_) {
      case SplitBehavior::kMergedWithPrevious:
        return is_match && !last_was_match_;
      case SplitBehavior::kMergedWithNext:
        return !is_match && last_was_match_;
      case SplitBehavior::kContiguous:
        return is_match == last_was_match_;
      case SplitBehavior::kRemoved:
      case SplitBehavior::kIsolated:
        return false;
    }
    return false;
  }

  SplitBehavior behavior_;
  const Emit& emit_;
  Span pending_;
  bool waiting_ = false;
  bool last_was_match_ = false;
};

// Calls `add(span, is_match)` for matches and the gaps between them. A match of nothing cuts there; the search goes on
// behind the next character.
template <class Add>
Status find_all(Matcher& matcher, std::string_view text, bool invert, const Add& add) {
  size_t done = 0;
  size_t from = 0;
  while (from <= text.size()) {
    HR_TRY(const auto match, matcher.find(text, from));
    if (!match) break;
    if (match->begin > done) {
      HR_TRY_STATUS(add(Span{.begin = done, .end = match->begin}, invert));
    }
    done = match->end;
    if (match->begin < match->end) {
      HR_TRY_STATUS(add(*match, !invert));
      from = match->end;
    } else {
      if (match->end == text.size()) break;
      from = match->end + character_length(text.substr(match->end));
    }
  }
  return done < text.size() ? add(Span{.begin = done, .end = text.size()}, invert) : Status();
}

}  // namespace

Splitter::Splitter(const std::vector<SplitterStage>& stages) : stages_(stages), matcher_of_(stages.size()) {
  for (size_t i = 0; i < stages.size(); ++i) {
    matcher_of_[i] = matchers_.size();
    if (const auto* rule = std::get_if<SplitStage>(&stages[i])) matchers_.emplace_back(rule->regex);
  }
}

Status Splitter::run_stage(size_t stage, const Word& word, const WordSink& sink) {
  if (word.text.empty()) return {};
  if (stage == stages_.size()) return sink(word);
  if (const auto* rule = std::get_if<SplitStage>(&stages_[stage])) return split(stage, *rule, word, sink);
  if (const auto* rule = std::get_if<MetaspaceStage>(&stages_[stage])) return metaspace(stage, *rule, word, sink);
  if (word.text.starts_with(' ')) return run_stage(stage + 1, word, sink);
  const std::string text = fmt::format(" {}", word.text);
  return run_stage(stage + 1, {.text = text, .first = word.first}, sink);
}

Status Splitter::split(size_t stage, const SplitStage& rule, const Word& word, const WordSink& sink) {
  const auto emit = [&](Span span) {
    return run_stage(
        stage + 1,
        {.text = word.text.substr(span.begin, span.end - span.begin), .first = word.first && span.begin == 0}, sink);
  };
  Joiner joiner(rule.behavior, emit);
  HR_TRY_STATUS(find_all(matchers_[matcher_of_[stage]], word.text, rule.invert,
                         [&joiner](Span span, bool is_match) { return joiner.add(span, is_match); }));
  return joiner.finish();
}

Status Splitter::metaspace(size_t stage, const MetaspaceStage& rule, const Word& word, const WordSink& sink) {
  const bool written = word.text.starts_with(' ') || word.text.starts_with(rule.replacement);
  const bool prepend = !written && (rule.prepend == MetaspaceStage::Prepend::kAlways ||
                                    (rule.prepend == MetaspaceStage::Prepend::kFirst && word.first));
  std::string text = prepend ? rule.replacement : "";
  for (const char c : word.text) {
    if (c == ' ')
      text += rule.replacement;
    else
      text += c;
  }
  if (!rule.split) return run_stage(stage + 1, {.text = text, .first = word.first}, sink);
  const std::string_view whole = text;
  for (size_t begin = 0; begin < whole.size();) {
    const size_t end = std::min(whole.find(rule.replacement, begin + 1), whole.size());
    HR_TRY_STATUS(
        run_stage(stage + 1, {.text = whole.substr(begin, end - begin), .first = word.first && begin == 0}, sink));
    begin = end;
  }
  return {};
}

}  // namespace headrace
