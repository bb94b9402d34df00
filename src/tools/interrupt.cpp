#include "tools/interrupt.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <utility>

namespace headrace::tools {

namespace {

sigset_t signals_to_wait_for() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    // nohup and background shells ignore some of these on purpose.
    struct sigaction action {};
    const bool ignored = sigaction(number, nullptr, &action) == 0 && action.sa_handler == SIG_IGN;
    if (!ignored) sigaddset(&signals, number);
  }
  return signals;
}

}  // namespace

InterruptGuard::InterruptGuard(std::stop_source source)
    : source_(std::move(source)),
      signals_(signals_to_wait_for()),
      signal_fd_(signalfd(-1, &signals_, SFD_CLOEXEC)),
      end_fd_(eventfd(0, EFD_CLOEXEC)) {
  // Without the descriptors signals keep their usual effect, which an export survives too.
  if (end_fd_ < 0 || signal_fd_ < 0 || pthread_sigmask(SIG_BLOCK, &signals_, &before_) != 0) return;
  waiter_ = std::thread([this] { wait(); });
}

InterruptGuard::~InterruptGuard() {
  if (waiter_.joinable()) {
    const uint64_t one = 1;
    while (::write(end_fd_, &one, sizeof one) < 0 && errno == EINTR) {
    }
    waiter_.join();
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }
  if (signal_fd_ >= 0) ::close(signal_fd_);
  if (end_fd_ >= 0) ::close(end_fd_);
}

void InterruptGuard::wait() {
  std::array<pollfd, 2> fds{
      {{.fd = signal_fd_, .events = POLLIN, .revents = 0}, {.fd = end_fd_, .events = POLLIN, .revents = 0}}};
  while (true) {
    if (poll(fds.data(), fds.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return;
    }
    if (fds[1].revents != 0) return;
    signalfd_siginfo info{};
    if (::read(signal_fd_, &info, sizeof info) != sizeof info) continue;
    if (source_.request_stop()) continue;
    std::signal(static_cast<int>(info.ssi_signo), SIG_DFL);
    pthread_sigmask(SIG_UNBLOCK, &signals_, nullptr);
    raise(static_cast<int>(info.ssi_signo));
  }
}

Result<double> load_guarded(const std::stop_source& stop, const std::function<Status()>& work) {
  const InterruptGuard guard(stop);
  const auto start = std::chrono::steady_clock::now();
  HR_TRY_STATUS(work());
  if (stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted while the model was loaded");
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace headrace::tools
