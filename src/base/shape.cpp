#include "base/shape.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <limits>
#include <numeric>

#include "base/checked.h"

namespace headrace {

namespace {

int64_t must_add(int64_t a, int64_t b) {
  const auto sum = checked_add(a, b);
  if (!sum) throw UserError({.code = ErrorCode::kTrace, .message = fmt::format("dim {} + {} overflows", a, b)});
  return *sum;
}

int64_t must_mul(int64_t a, int64_t b) {
  const auto product = checked_mul(a, b);
  if (!product) throw UserError({.code = ErrorCode::kTrace, .message = fmt::format("dim {} * {} overflows", a, b)});
  return *product;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool is_symbol(std::string_view text) {
  if (text.empty() || !(std::isalpha(static_cast<unsigned char>(text.front())) || text.front() == '_')) return false;
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::optional<int64_t> parse_int(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Not -value: the least integer has no opposite.
uint64_t magnitude(int64_t value) { return value < 0 ? -static_cast<uint64_t>(value) : static_cast<uint64_t>(value); }

// Where the next ` + ` or ` - ` begins.
size_t find_sign(std::string_view text) {
  for (size_t i = 0; i + 2 < text.size(); ++i)
    if (text[i] == ' ' && (text[i + 1] == '+' || text[i + 1] == '-') && text[i + 2] == ' ') return i;
  return std::string_view::npos;
}

// One term: `64`, `seq`, `2*seq`. The sign before it belongs to its digits, so that the least integer reads back.
std::optional<Dim> parse_term(std::string_view text, bool negative) {
  const auto number_of = [&](std::string_view digits) {
    return parse_int(negative ? "-" + std::string(digits) : std::string(digits));
  };
  if (const auto number = number_of(text)) return Dim(*number);
  int64_t factor = negative ? -1 : 1;
  if (const auto star = text.find('*'); star != std::string_view::npos) {
    const auto number = number_of(trim(text.substr(0, star)));
    if (!number) return std::nullopt;
    factor = *number;
    text = trim(text.substr(star + 1));
  }
  if (!is_symbol(text)) return std::nullopt;
  return Dim::symbol(std::string(text)) * factor;
}

}  // namespace

Dim Dim::symbol(std::string name) {
  Dim dim;
  dim.terms_.emplace_back(std::move(name), 1);
  return dim;
}

int64_t Dim::value() const {
  HR_CHECK(is_static());
  return constant_;
}

Dim operator+(const Dim& a, const Dim& b) {
  Dim out;
  out.constant_ = must_add(a.constant_, b.constant_);
  auto i = a.terms_.begin();
  auto j = b.terms_.begin();
  while (i != a.terms_.end() || j != b.terms_.end()) {
    if (j == b.terms_.end() || (i != a.terms_.end() && i->first < j->first)) {
      out.terms_.push_back(*i++);
    } else if (i == a.terms_.end() || j->first < i->first) {
      out.terms_.push_back(*j++);
    } else {
      if (const int64_t sum = must_add(i->second, j->second); sum != 0) out.terms_.emplace_back(i->first, sum);
      ++i, ++j;
    }
  }
  return out;
}

Dim operator*(const Dim& a, int64_t factor) {
  if (factor == 0) return 0;
  Dim out = a;
  out.constant_ = must_mul(a.constant_, factor);
  for (auto& [symbol, coefficient] : out.terms_) coefficient = must_mul(coefficient, factor);
  return out;
}

Dim operator-(const Dim& a, const Dim& b) { return a + b * -1; }

std::string to_string(const Dim& dim) {
  std::string out;
  for (const auto& [symbol, coefficient] : dim.terms()) {
    if (out.empty()) {
      if (coefficient != 1) out += fmt::format("{}*", coefficient);
    } else {
      out += coefficient < 0 ? " - " : " + ";
      if (magnitude(coefficient) != 1) out += fmt::format("{}*", magnitude(coefficient));
    }
    out += symbol;
  }
  if (out.empty()) return fmt::format("{}", dim.constant());
  if (dim.constant() > 0) out += fmt::format(" + {}", dim.constant());
  if (dim.constant() < 0) out += fmt::format(" - {}", magnitude(dim.constant()));
  return out;
}

std::string to_string(const Shape& shape) {
  std::string out = "[";
  for (size_t i = 0; i < shape.size(); ++i) out += (i == 0 ? "" : ", ") + to_string(shape[i]);
  return out + "]";
}

Result<Dim> parse_dim(std::string_view text) {
  constexpr size_t kMaxSymbols = 64;  // far more than any model has; adding a term costs as much as there are
  Dim out;
  std::string_view rest = trim(text);
  bool negative = false;
  while (true) {
    // A sign inside a sum stands between blanks; `-1*seq` and `-3` carry their own.
    const size_t end = find_sign(rest);
    const auto term = parse_term(trim(rest.substr(0, end)), negative);
    if (!term) return fail(ErrorCode::kHirParse, "dim '{}' is not a sum of integers and symbols", text);
    try {
      out = out + *term;
    } catch (const UserError& overflow) {
      return fail(ErrorCode::kHirParse, "dim '{}': {}", text, overflow.error.message);
    }
    if (out.terms().size() > kMaxSymbols)
      return fail(ErrorCode::kHirParse, "dim '{}...' has more than {} symbols", text.substr(0, 40), kMaxSymbols);
    if (end == std::string_view::npos) return out;
    negative = rest[end + 1] == '-';
    rest.remove_prefix(end + 3);
  }
}

bool is_static(const Shape& shape) {
  return std::all_of(shape.begin(), shape.end(), [](const Dim& d) { return d.is_static(); });
}

std::optional<int64_t> elements(const Shape& shape) {
  if (!is_static(shape)) return std::nullopt;
  return checked_product(static_sizes(shape));
}

Dim substitute(const Dim& dim, const SymbolValues& values) {
  if (dim.is_static()) return dim;
  Dim out = dim.constant();
  for (const auto& [symbol, coefficient] : dim.terms()) {
    const auto value = values.find(symbol);
    out = out + (value == values.end() ? Dim::symbol(symbol) * coefficient : Dim(value->second) * coefficient);
  }
  return out;
}

Shape substitute(const Shape& shape, const SymbolValues& values) {
  Shape out;
  out.reserve(shape.size());
  for (const auto& dim : shape) out.push_back(substitute(dim, values));
  return out;
}

std::vector<int64_t> static_sizes(const Shape& shape) {
  std::vector<int64_t> out;
  out.reserve(shape.size());
  for (const auto& dim : shape) out.push_back(dim.value());
  return out;
}

namespace {

// False when a coefficient is the least integer, which std::gcd does not take.
bool has_opposites(const Dim& dim) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  return dim.constant() != kLeast &&
         std::none_of(dim.terms().begin(), dim.terms().end(), [](const auto& term) { return term.second == kLeast; });
}

}  // namespace

bool same_elements(const Shape& a, const Shape& b) {
  const auto normal = [](const Shape& shape) -> std::optional<std::pair<int64_t, Shape>> {
    int64_t content = 1;
    Shape factors;
    for (const Dim& dim : shape) {
      if (!has_opposites(dim)) return std::nullopt;
      int64_t divisor = dim.constant();
      for (const auto& term : dim.terms()) divisor = std::gcd(divisor, term.second);
      const auto next = checked_mul(content, divisor);
      if (!next) return std::nullopt;
      content = *next;
      if (dim.is_static()) continue;
      Dim primitive = dim.constant() / divisor;
      for (const auto& [symbol, coefficient] : dim.terms())
        primitive = primitive + Dim::symbol(symbol) * (coefficient / divisor);
      factors.push_back(primitive);
    }
    if (content == 0) factors.clear();
    std::sort(factors.begin(), factors.end());
    return std::pair(content, factors);
  };
  const auto left = normal(a);
  return left.has_value() && left == normal(b);
}

}  // namespace headrace
