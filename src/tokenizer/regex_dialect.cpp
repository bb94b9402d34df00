#include <algorithm>

#include "tokenizer/regex.h"

namespace headrace {
namespace {

// Oniguruma's \w, to stand inside a class.
constexpr std::string_view kWord = R"(\p{Alphabetic}\p{M}\p{Nd}\p{Pc})";

// Escapes that mean the same in all three dialects: classes by \p come apart from these.
constexpr std::string_view kSameLetters = "dDnrtf";

class Translator {
 public:
  Translator(std::string_view pattern, std::string_view place) : pattern_(pattern), place_(place) {}

  Result<std::string> run() {
    while (at_ < pattern_.size()) {
      const char c = pattern_[at_];
      if (c == '\\') {
        HR_TRY_STATUS(escape());
      } else if (in_class_) {
        HR_TRY_STATUS(inside_class(c));
      } else {
        HR_TRY_STATUS(outside_class(c));
      }
    }
    return std::move(out_);
  }

 private:
  [[nodiscard]] tl::unexpected<Error> refuse(std::string_view what) const {
    return fail(ErrorCode::kConfigUnsupported, "{}: pattern '{}' holds {}, which is not supported", place_, pattern_,
                what);
  }
  [[nodiscard]] char next(size_t ahead) const { return at_ + ahead < pattern_.size() ? pattern_[at_ + ahead] : '\0'; }
  void take(size_t count) {
    out_ += pattern_.substr(at_, count);
    at_ += count;
  }

  Status inside_class(char c) {
    if (c == '[') return refuse("a class inside a class");
    if (c == '&' && next(1) == '&') return refuse("an intersection of classes");
    if (c == ']') in_class_ = false;
    take(1);
    return {};
  }

  Status outside_class(char c) {
    if (c == '[') {
      in_class_ = true;
      take(next(1) == '^' ? 2 : 1);
      if (at_ < pattern_.size() && pattern_[at_] == ']') return refuse("an empty class");
      return {};
    }
    if (c == '{' && next(1) == ',') return refuse("a repetition without a least number");
    if (c == '(' && next(1) == '*') return refuse("a verb");
    if (c == '(' && next(1) == '?') return group();
    take(1);
    return {};
  }

  // Groups all three know: (?: (?= (?! (?<= (?<! (?> (?i: (?i)
  Status group() {
    static constexpr std::string_view kGroups[] = {"(?:", "(?=", "(?!", "(?<=", "(?<!", "(?>", "(?i:", "(?i)"};
    const auto* known =
        std::ranges::find_if(kGroups, [&](std::string_view start) { return pattern_.substr(at_).starts_with(start); });
    if (known == std::end(kGroups)) return refuse(fmt::format("a group '{}'", pattern_.substr(at_, 4)));
    take(known->size());
    return {};
  }

  Status escape() {
    const char c = next(1);
    const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const bool digit = c >= '0' && c <= '9';
    if (c == '\0') return refuse("a backslash at its end");
    if (digit) return refuse("a reference or octal number");
    if (!letter || kSameLetters.find(c) != std::string_view::npos) {
      take(2);
      return {};
    }
    return letter_escape(c);
  }

  Status letter_escape(char c) {
    switch (c) {
      case 's':
      case 'S':
        put(c == 's' ? R"(\p{White_Space})" : R"(\P{White_Space})");
        return {};
      case 'w':
        put(in_class_ ? std::string(kWord) : fmt::format("[{}]", kWord));
        return {};
      case 'W':
        if (in_class_) return refuse("\\W inside a class");
        put(fmt::format("[^{}]", kWord));
        return {};
      case 'b':
        if (in_class_) return refuse("\\b inside a class");
        put(fmt::format("(?:(?<=[{0}])(?![{0}])|(?<![{0}])(?=[{0}]))", kWord));
        return {};
      case 'p':
      case 'P':
        return property();
      case 'x':
        return code_point();
      default:
        return refuse(fmt::format("\\{}", c));
    }
  }

  void put(std::string_view text) {
    out_ += text;
    at_ += 2;
  }

  // General categories are one or two letters, or short names of our own list; every other name is a script.
  Status property() {
    static constexpr std::string_view kBinary[] = {"Alphabetic", "White_Space", "Emoji", "Any", "L&"};
    if (next(2) != '{') return refuse("a property without braces");
    const size_t end = pattern_.find('}', at_);
    if (end == std::string_view::npos) return refuse("a property without an end");
    std::string_view name = pattern_.substr(at_ + 3, end - at_ - 3);
    const bool negated = name.starts_with('^');
    if (negated) name.remove_prefix(1);
    const bool plain = name.size() <= 2 || std::ranges::find(kBinary, name) != std::end(kBinary);
    out_ += fmt::format("\\{}{{{}{}{}}}", next(1), negated ? "^" : "", plain ? "" : "sc:", name);
    at_ = end + 1;
    return {};
  }

  // \x{1F600} or \x41.
  Status code_point() {
    if (next(2) == '{') {
      const size_t end = pattern_.find('}', at_);
      if (end == std::string_view::npos) return refuse("a character number without an end");
      take(end + 1 - at_);
      return {};
    }
    take(std::min<size_t>(4, pattern_.size() - at_));
    return {};
  }

  std::string_view pattern_;
  std::string_view place_;
  std::string out_;
  size_t at_ = 0;
  bool in_class_ = false;
};

}  // namespace

Result<std::string> to_pcre2(std::string_view pattern, std::string_view place) {
  return Translator(pattern, place).run();
}

}  // namespace headrace
