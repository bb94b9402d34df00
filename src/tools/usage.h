// Wrong usage of the command line: exit code 2. Thrown by whatever reads options; caught in run_command_line.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headrace::tools {

// Bodies of loops and calls that `run` and `generate` let the interpreter run: far beyond what any model needs, and an
// end to text that would run forever.
inline constexpr uint64_t kMaxRegionRuns = 10'000'000;

struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

template <class... Args>
[[noreturn]] void wrong_usage(fmt::format_string<Args...> format, Args&&... args) {
  throw UsageError(fmt::format(format, std::forward<Args>(args)...));
}

// An integer from `min` to `max`, digits only (and a leading minus where min < 0). `option` is for the message:
// "--seq".
[[nodiscard]] int64_t parse_integer(std::string_view option, std::string_view text, int64_t min, int64_t max);

// A size in bytes: a number, perhaps with a decimal point, and a unit. B or none: bytes; K, M, G, T and KiB, MiB, GiB,
// TiB: powers of 1024; kB, MB, GB, TB: powers of 1000; letters of either case. Always > 0.
[[nodiscard]] uint64_t parse_size(std::string_view option, std::string_view text);

// A comma-separated list without empty items.
[[nodiscard]] std::vector<std::string> parse_list(std::string_view option, std::string_view text);

// Token ids, comma-separated. An empty text is an empty list: whether that and each id fit is for the function to say.
[[nodiscard]] std::vector<int64_t> parse_tokens(std::string_view text, std::string_view option = "--tokens");

}  // namespace headrace::tools
