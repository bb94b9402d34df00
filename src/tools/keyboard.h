// Lines from standard input, and Ctrl-C as a key instead of an end.
#pragma once

#include <csignal>
#include <optional>
#include <string>

namespace headrace::tools {

class Keyboard {
 public:
  // From now on SIGINT is kept for this object. Make it before the work starts threads: they inherit the blocked
  // signal. An ignored SIGINT stays ignored.
  Keyboard();
  ~Keyboard();
  Keyboard(const Keyboard&) = delete;
  Keyboard(Keyboard&&) = delete;
  Keyboard& operator=(const Keyboard&) = delete;
  Keyboard& operator=(Keyboard&&) = delete;

  // Whether Ctrl-C came since the last call.
  [[nodiscard]] bool interrupted() const;
  // The next line without its end; nothing at the end of input or when Ctrl-C comes first.
  [[nodiscard]] std::optional<std::string> line();
  // Both ends are a person's.
  [[nodiscard]] static bool at_terminal();

 private:
  [[nodiscard]] bool wait_for_input() const;

  sigset_t before_{};
  int signal_fd_{-1};
  std::string unread_;
  bool ended_{};
};

}  // namespace headrace::tools
