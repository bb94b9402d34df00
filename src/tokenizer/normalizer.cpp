#include "tokenizer/normalizer.h"

#include <utility>

#include "tokenizer/utf8.h"

namespace headrace {
namespace {

class Prepend final : public Normalizer {
 public:
  explicit Prepend(std::string prefix) : prefix_(std::move(prefix)) {}
  Result<std::string> apply(std::string_view text) const override {
    return text.empty() ? std::string() : fmt::format("{}{}", prefix_, text);
  }

 private:
  std::string prefix_;
};

class ReplaceText final : public Normalizer {
 public:
  ReplaceText(std::string from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  Result<std::string> apply(std::string_view text) const override {
    std::string out;
    out.reserve(text.size());
    for (size_t at = 0;;) {
      const size_t found = text.find(from_, at);
      out += text.substr(at, found - at);
      if (found == std::string_view::npos) return out;
      out += to_;
      at = found + from_.size();
    }
  }

 private:
  std::string from_, to_;
};

class ReplaceMatches final : public Normalizer {
 public:
  ReplaceMatches(Regex from, std::string to) : from_(std::move(from)), to_(std::move(to)) {}
  Result<std::string> apply(std::string_view text) const override {
    Matcher matcher(from_);
    std::string out;
    size_t done = 0;
    for (size_t from = 0; from < text.size();) {
      HR_TRY(const auto match, matcher.find(text, from));
      if (!match) break;
      if (match->begin == match->end) {
        if (match->end >= text.size()) break;
        from = match->end + character_length(text.substr(match->end));
        continue;
      }
      out += text.substr(done, match->begin - done);
      out += to_;
      done = match->end;
      from = match->end;
    }
    return out += text.substr(done);
  }

 private:
  Regex from_;
  std::string to_;
};

// A normalizer that is a function of the text alone.
template <class Function>
class Simple final : public Normalizer {
 public:
  explicit Simple(Function function) : function_(std::move(function)) {}
  Result<std::string> apply(std::string_view text) const override { return function_(text); }

 private:
  Function function_;
};
template <class Function>
std::unique_ptr<Normalizer> make_simple(Function function) {
  return std::make_unique<Simple<Function>>(std::move(function));
}

class Precompiled final : public Normalizer {
 public:
  explicit Precompiled(Charsmap map) : map_(std::move(map)) {}
  Result<std::string> apply(std::string_view text) const override {
    constexpr size_t kLongestMapped = 5;  // bytes; longer graphemes go character by character
    std::string out;
    while (!text.empty()) {
      const std::string_view grapheme = text.substr(0, grapheme_length(text));
      text.remove_prefix(grapheme.size());
      if (grapheme.size() <= kLongestMapped) {
        HR_TRY(const auto entry, map_.shortest(grapheme));
        if (entry) {
          out += entry->replacement;
          continue;
        }
      }
      HR_TRY_STATUS(characters(grapheme, out));
    }
    return out;
  }

 private:
  Status characters(std::string_view grapheme, std::string& out) const {
    while (!grapheme.empty()) {
      const auto character = grapheme.substr(0, character_length(grapheme));
      HR_TRY(const auto entry, map_.shortest(character));
      out += entry ? entry->replacement : character;
      grapheme.remove_prefix(character.size());
    }
    return {};
  }
  Charsmap map_;
};

class UnigramNormalizer final : public Normalizer {
 public:
  UnigramNormalizer(Charsmap map, UnigramSpaces spaces) : map_(std::move(map)), spaces_(spaces) {}
  Result<std::string> apply(std::string_view text) const override {
    Writer writer{.spaces = spaces_, .out = {}};
    while (!text.empty()) {
      HR_TRY(const auto entry, map_.longest(text));
      const size_t length = entry ? entry->length : character_length(text);
      for (const char c : entry ? entry->replacement : text.substr(0, length)) writer.put(c);
      text.remove_prefix(length);
    }
    return std::move(writer.out);
  }

 private:
  struct Writer {
    UnigramSpaces spaces;
    std::string out;
    bool prefixed = false;
    bool in_word = false;
    void put(char c) {
      constexpr std::string_view kSpace = "\xE2\x96\x81";
      if (c == ' ') {
        in_word = false;
        if (!spaces.remove_extra) out += kSpace;
        return;
      }
      if (!std::exchange(in_word, true) && ((spaces.add_prefix && !prefixed) || spaces.remove_extra)) {
        out += kSpace;
        prefixed = true;
      }
      out += c;
    }
  };
  Charsmap map_;
  UnigramSpaces spaces_;
};

}  // namespace

std::unique_ptr<Normalizer> make_prepend(std::string prefix) { return std::make_unique<Prepend>(std::move(prefix)); }
std::unique_ptr<Normalizer> make_replace(std::string from, std::string to) {
  HR_CHECK(!from.empty());
  return std::make_unique<ReplaceText>(std::move(from), std::move(to));
}
std::unique_ptr<Normalizer> make_replace(Regex from, std::string to) {
  return std::make_unique<ReplaceMatches>(std::move(from), std::move(to));
}
std::unique_ptr<Normalizer> make_normal_form(NormalForm form) {
  return make_simple([form](std::string_view text) { return normalized(text, form); });
}
std::unique_ptr<Normalizer> make_lowercase() { return make_simple(lowercased); }
std::unique_ptr<Normalizer> make_strip_accents() { return make_simple(without_marks); }
std::unique_ptr<Normalizer> make_strip(bool left, bool right) {
  return make_simple([left, right](std::string_view text) {
    if (right) text = text.substr(0, white_space_start(text));
    if (left) text.remove_prefix(white_space_length(text));
    return std::string(text);
  });
}
std::unique_ptr<Normalizer> make_precompiled(Charsmap map) { return std::make_unique<Precompiled>(std::move(map)); }
std::unique_ptr<Normalizer> make_unigram_normalizer(Charsmap map, UnigramSpaces spaces) {
  return std::make_unique<UnigramNormalizer>(std::move(map), spaces);
}

}  // namespace headrace
