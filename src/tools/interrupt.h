// SIGINT, SIGTERM and SIGHUP as a stop request. The first one asks the work to stop and clean up; the second ends the
// process at once, as without this.
#pragma once

#include <csignal>
#include <stop_token>
#include <thread>

namespace headrace::tools {

class InterruptGuard {
 public:
  // Make it before the work starts threads: they inherit the blocked signals, and one thread of ours waits for them.
  // The requests go to `source`, which guards that follow each other may share.
  explicit InterruptGuard(std::stop_source source = {});
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard(InterruptGuard&&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  InterruptGuard& operator=(InterruptGuard&&) = delete;

  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  void wait();

  std::stop_source source_;
  sigset_t signals_;
  sigset_t before_{};
  int signal_fd_;
  int end_fd_;
  std::thread waiter_;
};

}  // namespace headrace::tools
