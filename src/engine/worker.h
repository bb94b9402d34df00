// A process that works for this one, over a socket that nobody else has: python/headrace/worker.py says how they talk.
// Internal to the engine part.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <nlohmann/json.hpp>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "base/result.h"

namespace headrace {

inline constexpr int64_t kWorkerProtocol = 2;

class Worker {
 public:
  // Starts `program arguments... 3`, descriptor 3 being its end of the socket, in a process group of its own, and waits
  // for its greeting. It ends when this object or this process does. Errors: kEngineMissing, with the last line it
  // wrote to standard error: it cannot be started, ends, is silent for a minute, or speaks another protocol.
  // kInterrupted when `stop` is requested while it is waited for, here or in receive(): it is ended then.
  [[nodiscard]] static Result<Worker> start(const std::string& program, const std::vector<std::string>& arguments,
                                            std::stop_token stop = {});

  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;
  ~Worker();

  [[nodiscard]] pid_t process() const { return process_; }

  // Sends a message. Errors: kEngine when the worker died.
  [[nodiscard]] Status send(const nlohmann::json& header, std::span<const std::byte> payload = {});
  // Waits for a reply whose payload has exactly the size of `payload`. Errors: kEngine when the worker died or the
  // reply is not one; kEngine or kEngineMissing with the worker's own message.
  [[nodiscard]] Result<nlohmann::json> receive(std::span<std::byte> payload = {});

 private:
  Worker(pid_t process, int socket, int errors, std::stop_token stop)
      : process_(process), socket_(socket), errors_(errors), stop_(std::move(stop)) {}
  [[nodiscard]] bool receive_all(std::span<std::byte> out) const;
  // False when nothing came within the time (negative: any), or a stop was requested.
  [[nodiscard]] bool wait_for_bytes(int milliseconds) const;
  // What a failed receive_all means.
  [[nodiscard]] tl::unexpected<Error> lost();
  [[nodiscard]] Status greet();
  // Why it is not there any more, in words. Ends it.
  [[nodiscard]] std::string post_mortem();
  [[nodiscard]] bool wait_for_end(int milliseconds) const;
  // Its status, as waitpid has it.
  int end();

  pid_t process_ = -1;
  int socket_ = -1;
  int errors_ = -1;  // what it writes to standard error
  std::stop_token stop_;
};

}  // namespace headrace
