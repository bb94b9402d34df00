// SIGINT, SIGTERM and SIGHUP as a stop request. The first one asks the work to stop and clean up; the second ends the
// process at once, as without this.
#pragma once

#include <csignal>
#include <functional>
#include <stop_token>
#include <thread>

#include "base/result.h"

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

// What may take long before a model answers, under a guard whose requests go to `stop`: the seconds it took. Errors:
// those of `work`; kInterrupted, when it went on to its end although it was asked to stop.
[[nodiscard]] Result<double> load_guarded(const std::stop_source& stop, const std::function<Status()>& work);

}  // namespace headrace::tools
