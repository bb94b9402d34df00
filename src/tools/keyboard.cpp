#include "tools/keyboard.h"

#include <poll.h>
#include <pthread.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace headrace::tools {

Keyboard::Keyboard() {
  struct sigaction action {};
  if (sigaction(SIGINT, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) return;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  signal_fd_ = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
  // Without it Ctrl-C ends the program, as it does without this class.
  if (signal_fd_ >= 0) pthread_sigmask(SIG_BLOCK, &signals, &before_);
}

Keyboard::~Keyboard() {
  if (signal_fd_ < 0) return;
  static_cast<void>(interrupted());
  ::close(signal_fd_);
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

bool Keyboard::interrupted() const {
  bool out = false;
  signalfd_siginfo info{};
  while (signal_fd_ >= 0 && ::read(signal_fd_, &info, sizeof info) == sizeof info) out = true;
  return out;
}

bool Keyboard::wait_for_input() const {
  std::array<pollfd, 2> fds{
      {{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}, {.fd = signal_fd_, .events = POLLIN, .revents = 0}}};
  while (poll(fds.data(), signal_fd_ < 0 ? 1 : 2, -1) < 0)
    if (errno != EINTR) return false;
  return fds[1].revents == 0 || !interrupted();
}

std::optional<std::string> Keyboard::line() {
  while (true) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string out = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return out;
    }
    if (ended_ || !wait_for_input()) break;
    std::array<char, 4096> bytes{};
    const ssize_t size = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      ended_ = true;
      if (!unread_.empty()) unread_ += '\n';
      continue;
    }
    unread_.append(bytes.data(), static_cast<size_t>(size));
  }
  return std::nullopt;
}

bool Keyboard::at_terminal() { return isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1; }

}  // namespace headrace::tools
