// Errors as values. Library code returns Result<T>; only src/tools prints or exits.
//
// Three kinds of trouble, three mechanisms:
//   Result<T>      what input from outside can cause: files, options, configurations
//   UserError      thrown by the tracing DSL, whose operators must compose; caught in trace(), never crosses it
//   InternalError  thrown by HR_CHECK: a broken invariant, a bug in Headrace; not reachable by any input
//
// Wording of messages: lower case, no full stop; place, thing, value seen, value expected, as in
//   gguf: tensor 'blk.0.attn_q.weight': 100 elements per row, not a multiple of 32 (q4_0)
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>
#include <vector>

namespace headrace {

enum class ErrorCode {
#define HR_ERROR(name, slug, meaning) name,
#include "base/errors.def"
};

struct ErrorInfo {
  ErrorCode code{};
  std::string_view name;
  std::string_view slug;
  std::string_view meaning;
};

inline constexpr ErrorInfo kErrorTable[] = {
#define HR_ERROR(name, slug, meaning) {ErrorCode::name, #name, slug, meaning},
#include "base/errors.def"
};

[[nodiscard]] constexpr std::string_view slug(ErrorCode code) { return kErrorTable[static_cast<size_t>(code)].slug; }

// One fault, in one line; `more` holds further independent faults found in the same step, a line each.
struct [[nodiscard]] Error {
  ErrorCode code{};
  std::string message;
  std::vector<std::string> more = {};

  // Puts `place: ` before every line, as an error travels up through files and functions.
  [[nodiscard]] Error in(std::string_view place) && {
    message = fmt::format("{}: {}", place, message);
    for (auto& line : more) line = fmt::format("{}: {}", place, line);
    return std::move(*this);
  }
  // All lines, joined by newlines.
  [[nodiscard]] std::string text() const {
    std::string out = message;
    for (const auto& line : more) out += "\n" + line;
    return out;
  }
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

template <class... Args>
[[nodiscard]] tl::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(Error{.code = code, .message = fmt::format(format, std::forward<Args>(args)...)});
}
[[nodiscard]] inline tl::unexpected<Error> fail(Error error) { return tl::unexpected(std::move(error)); }

// One Error out of several faults of one kind. Precondition: lines is not empty.
[[nodiscard]] inline Error merge_faults(ErrorCode code, std::vector<std::string> lines) {
  Error error{.code = code, .message = std::move(lines.front())};
  error.more.assign(std::make_move_iterator(lines.begin() + 1), std::make_move_iterator(lines.end()));
  return error;
}

// What the user should know although the work goes on. The caller owns the sink and prints it.
struct Warnings {
  std::vector<std::string> lines = {};
  template <class... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    lines.push_back(fmt::format(format, std::forward<Args>(args)...));
  }
};

// Thrown while tracing; carries the finished message.
struct UserError : std::runtime_error {
  explicit UserError(Error e) : std::runtime_error(e.message), error(std::move(e)) {}
  Error error;
};

struct InternalError : std::logic_error {
  using std::logic_error::logic_error;
};

namespace detail {
[[noreturn]] inline void check_failed(const char* condition, const char* file, int line) {
  throw InternalError(fmt::format("internal error: {} ({}:{})", condition, file, line));
}
}  // namespace detail

}  // namespace headrace

// On in release builds too: a wrong graph costs more than a compare.
#define HR_CHECK(condition) \
  ((condition) ? static_cast<void>(0) : ::headrace::detail::check_failed(#condition, __FILE__, __LINE__))

#define HR_CONCAT_(a, b) a##b
#define HR_CONCAT(a, b) HR_CONCAT_(a, b)

// HR_TRY(auto v, f()); — v is the value, or the enclosing function returns the error.
#define HR_TRY(decl, expr) HR_TRY_(decl, expr, HR_CONCAT(hr_try_, __COUNTER__))
#define HR_TRY_(decl, expr, tmp)                             \
  auto tmp = (expr);                                         \
  if (!tmp) return ::headrace::fail(std::move(tmp).error()); \
  decl = *std::move(tmp)

// HR_TRY_STATUS(f()); — for Status.
#define HR_TRY_STATUS(expr) HR_TRY_STATUS_(expr, HR_CONCAT(hr_try_, __COUNTER__))
#define HR_TRY_STATUS_(expr, tmp) \
  if (auto tmp = (expr); !tmp) return ::headrace::fail(std::move(tmp).error())
