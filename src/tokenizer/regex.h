// Regular expressions of tokenizer files, by PCRE2 with Unicode classes and look-around.
//
// Files write them for Oniguruma and Rust's regex crate. The common part of the three is taken as it is; what PCRE2
// would read otherwise is spelt anew (\s is Unicode's White_Space, \w Oniguruma's word characters, a script's name the
// script and not its extensions), and what cannot be spelt is refused: class intersections, nested classes, \h, \R, \X,
// octal escapes and back references, {,n}.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace headrace {

// A piece of a text, in bytes.
struct Span {
  size_t begin{};
  size_t end{};
  friend bool operator==(const Span&, const Span&) = default;
};

// A compiled pattern. Immutable.
class Regex {
 public:
  // Messages start with `place: `. Errors: kConfigUnsupported.
  [[nodiscard]] static Result<Regex> compile(std::string_view pattern, std::string_view place);
  [[nodiscard]] const std::string& pattern() const { return pattern_; }

 private:
  friend class Matcher;
  struct Code;
  Regex(std::string pattern, std::shared_ptr<const Code> code) : pattern_(std::move(pattern)), code_(std::move(code)) {}
  std::string pattern_;
  std::shared_ptr<const Code> code_;
};

// What a match needs besides the pattern; one for each thread and each level of nested matching.
class Matcher {
 public:
  explicit Matcher(const Regex& regex);
  ~Matcher();
  Matcher(Matcher&&) noexcept;
  Matcher& operator=(Matcher&&) noexcept;
  Matcher(const Matcher&) = delete;
  Matcher& operator=(const Matcher&) = delete;

  // The first match that starts at or after `start`, where a character starts. `subject` is UTF-8.
  // Errors: kInput (too many steps for a text of this size).
  [[nodiscard]] Result<std::optional<Span>> find(std::string_view subject, size_t start);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The pattern as PCRE2 is to read it. Errors: kConfigUnsupported.
[[nodiscard]] Result<std::string> to_pcre2(std::string_view pattern, std::string_view place);

}  // namespace headrace
