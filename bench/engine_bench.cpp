// A prompt and its likeliest continuation on one engine, in one process, after a first text that compiles and warms.
//
//   engine_bench DIR interp|xla|iree ID,ID,... TOKENS [ROUNDS]
//
// One line of JSON: the tokens, and the least seconds of all rounds: to the first token, and for each after it. The
// plugin is that of HEADRACE_PJRT_PLUGIN, IREE's Python that of HEADRACE_PYTHON; IREE's compiled code is kept under
// XDG_CACHE_HOME.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include "engine/decoder.h"

namespace headrace {
namespace {

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().text());
  return *std::move(result);
}

std::vector<int64_t> parse_ids(std::string_view text) {
  std::vector<int64_t> out;
  while (!text.empty()) {
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data(), end, out.emplace_back());
    if (error != std::errc()) throw std::runtime_error("the prompt is not a list of ids");
    text.remove_prefix(static_cast<size_t>(rest - text.data()));
    if (!text.empty()) text.remove_prefix(1);
  }
  return out;
}

struct Times {
  std::vector<int64_t> tokens;
  double first{};
  double step{};
};

Times measure(Decoder<float>& decoder, const std::vector<int64_t>& prompt, int64_t count) {
  decoder.clear();
  Continuation made = must(continue_text<float>(decoder, prompt, {.max_tokens = count, .stop_at_eos = false}));
  return {.tokens = std::move(made.tokens),
          .first = made.first_token_seconds,
          .step = (made.seconds - made.first_token_seconds) / static_cast<double>(count - 1)};
}

int run(const std::vector<std::string>& arguments) {
  const auto kind = parse_engine(arguments[1]);
  if (!kind) throw std::runtime_error("no engine " + arguments[1]);
  auto engine = must(open_engine(*kind, arguments[0],
                                 {.pjrt_plugin = variable("HEADRACE_PJRT_PLUGIN"),
                                  .python = variable("HEADRACE_PYTHON"),
                                  .cache_directory = variable("XDG_CACHE_HOME")}));
  auto decoder = must(Decoder<float>::open(std::move(engine)));
  const auto prompt = parse_ids(arguments[2]);
  const int64_t count = std::max(2, std::atoi(arguments[3].c_str()));
  const int rounds = arguments.size() > 4 ? std::atoi(arguments[4].c_str()) : 3;
  measure(decoder, prompt, 3);
  Times best = measure(decoder, prompt, count);
  for (int i = 1; i < rounds; ++i) {
    const Times more = measure(decoder, prompt, count);
    best.first = std::min(best.first, more.first);
    best.step = std::min(best.step, more.step);
  }
  fmt::print("{{\"tokens\": [{}], \"first\": {}, \"step\": {}}}\n", fmt::join(best.tokens, ", "), best.first,
             best.step);
  return 0;
}

}  // namespace
}  // namespace headrace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() < 4) {
    fmt::print(stderr, "usage: engine_bench DIR interp|xla|iree ID,ID,... TOKENS [ROUNDS]\n");
    return 2;
  }
  try {
    return headrace::run(arguments);
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}\n", error.what());
    return 1;
  }
}
