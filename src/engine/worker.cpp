#include "engine/worker.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <system_error>
#include <thread>
#include <utility>

#include "base/bounded_json.h"
#include "engine/one_line.h"

namespace headrace {

namespace {

constexpr int kSocketInChild = 3;
constexpr int kGreetingMilliseconds = 60'000;
constexpr int kEndMilliseconds = 3'000;
constexpr uint32_t kMaxHeaderBytes = 1U << 20U;
constexpr int64_t kMaxErrorBytes = 4096;

struct Head {
  uint32_t header_bytes{};
  uint64_t payload_bytes{};
};
constexpr size_t kHeadBytes = 12;

std::string error_text(int code) { return std::generic_category().message(code); }

// Owns a descriptor until it is taken.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor(Descriptor&&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  Descriptor& operator=(Descriptor&&) = delete;
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  [[nodiscard]] int get() const { return value_; }
  [[nodiscard]] int take() { return std::exchange(value_, -1); }

 private:
  int value_;
};

// The child's side of posix_spawn: descriptors 0 to 3 and nothing else, no signal blocked or ignored, a session of its
// own (a Ctrl-C in the terminal is for the parent to handle).
class SpawnSettings {
 public:
  SpawnSettings(int socket, int errors) {
    ::posix_spawn_file_actions_init(&actions_);
    ::posix_spawn_file_actions_addopen(&actions_, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&actions_, 1, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions_, errors, 2);
    ::posix_spawn_file_actions_adddup2(&actions_, socket, kSocketInChild);
    ::posix_spawnattr_init(&attributes_);
    sigset_t none;
    sigset_t all;
    ::sigemptyset(&none);
    ::sigfillset(&all);
    ::posix_spawnattr_setsigmask(&attributes_, &none);
    ::posix_spawnattr_setsigdefault(&attributes_, &all);
    ::posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSID);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings(SpawnSettings&&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  SpawnSettings& operator=(SpawnSettings&&) = delete;
  ~SpawnSettings() {
    ::posix_spawn_file_actions_destroy(&actions_);
    ::posix_spawnattr_destroy(&attributes_);
  }

  // An errno, or 0.
  int spawn(pid_t& process, const std::string& program, const std::vector<std::string>& arguments) {
    std::vector<std::string> words{program};
    words.insert(words.end(), arguments.begin(), arguments.end());
    words.push_back(std::to_string(kSocketInChild));
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::vector<char*> environment;
    for (char** entry = environ; *entry != nullptr; ++entry) environment.push_back(*entry);
    // Python is not to import what lies in the current directory.
    std::string safe_path = "PYTHONSAFEPATH=1";
    environment.push_back(safe_path.data());
    environment.push_back(nullptr);
    return ::posix_spawnp(&process, program.c_str(), &actions_, &attributes_, argv.data(), environment.data());
  }

 private:
  posix_spawn_file_actions_t actions_{};
  posix_spawnattr_t attributes_{};
};

// `socket` becomes the child's descriptor 3, `errors` its standard error.
Result<pid_t> spawn(const std::string& program, const std::vector<std::string>& arguments, const Descriptor& socket,
                    const Descriptor& errors) {
  // Copies above the numbers that the child's descriptors get, so that none is lost under another.
  const Descriptor high_socket(::fcntl(socket.get(), F_DUPFD_CLOEXEC, kSocketInChild + 1));
  const Descriptor high_errors(::fcntl(errors.get(), F_DUPFD_CLOEXEC, kSocketInChild + 1));
  if (high_socket.get() < 0 || high_errors.get() < 0)
    return fail(ErrorCode::kEngine, "no descriptors for a worker: {}", error_text(errno));
  pid_t process = -1;
  const int code = SpawnSettings(high_socket.get(), high_errors.get()).spawn(process, program, arguments);
  if (code != 0) return fail(ErrorCode::kEngineMissing, "{}: cannot be started: {}", program, error_text(code));
  return process;
}

// False when the other side is gone.
bool send_all(int socket, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes = bytes.subspan(static_cast<size_t>(sent));
  }
  return true;
}

// The last line that is not empty.
std::string last_line(int file) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  const int64_t length = std::min<int64_t>(size, kMaxErrorBytes);
  if (length <= 0) return "";
  std::string text(static_cast<size_t>(length), '\0');
  const ssize_t got = ::pread(file, text.data(), text.size(), size - length);
  text.resize(static_cast<size_t>(std::max<ssize_t>(got, 0)));
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  return one_line(text.substr(text.rfind('\n') + 1));
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("killed by signal {}", WTERMSIG(status));
  return fmt::format("exit code {}", WEXITSTATUS(status));
}

}  // namespace

Result<Worker> Worker::start(const std::string& program, const std::vector<std::string>& arguments,
                             std::stop_token stop) {
  std::array<int, 2> pair{};
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return fail(ErrorCode::kEngine, "no socket for a worker: {}", error_text(errno));
  Descriptor own(pair[0]);
  Descriptor errors(::memfd_create("headrace-worker", MFD_CLOEXEC));
  // The child's end is closed here, so that its death shows as the end of the stream.
  HR_TRY(const pid_t process, spawn(program, arguments, Descriptor(pair[1]), errors));
  Worker out(process, own.take(), errors.take(), std::move(stop));
  if (auto greeted = out.greet(); !greeted) return fail(std::move(greeted).error().in(program));
  return out;
}

Status Worker::greet() {
  if (!wait_for_bytes(kGreetingMilliseconds)) {
    if (stop_.stop_requested()) return lost();
    static_cast<void>(end());
    return fail(ErrorCode::kEngineMissing, "no greeting from it within a minute");
  }
  auto greeting = receive();
  if (!greeting) {
    Error error = std::move(greeting).error();
    if (error.code != ErrorCode::kInterrupted) error.code = ErrorCode::kEngineMissing;
    return fail(std::move(error));
  }
  const auto protocol = greeting->find("protocol");
  if (protocol == greeting->end() || *protocol != kWorkerProtocol)
    return fail(ErrorCode::kEngineMissing, "its headrace package speaks protocol {}, expected {}",
                protocol == greeting->end() ? "?" : one_line(protocol->dump()), kWorkerProtocol);
  return {};
}

bool Worker::wait_for_bytes(int milliseconds) const {
  constexpr int kStep = 100;
  for (int waited = 0; milliseconds < 0 || waited < milliseconds; waited += kStep) {
    if (stop_.stop_requested()) return false;
    pollfd wanted{.fd = socket_, .events = POLLIN, .revents = 0};
    const int ready = ::poll(&wanted, 1, kStep);
    if (ready > 0 || (ready < 0 && errno != EINTR)) return true;  // recv tells what is wrong
  }
  return false;
}

tl::unexpected<Error> Worker::lost() {
  if (!stop_.stop_requested()) return fail(ErrorCode::kEngine, "{}", post_mortem());
  static_cast<void>(end());
  return fail(ErrorCode::kInterrupted, "interrupted while the engine was at work");
}

Worker::Worker(Worker&& other) noexcept
    : process_(std::exchange(other.process_, -1)),
      socket_(std::exchange(other.socket_, -1)),
      errors_(std::exchange(other.errors_, -1)),
      stop_(std::move(other.stop_)) {}

Worker& Worker::operator=(Worker&& other) noexcept {
  std::swap(process_, other.process_);
  std::swap(socket_, other.socket_);
  std::swap(errors_, other.errors_);
  std::swap(stop_, other.stop_);
  return *this;
}

Worker::~Worker() {
  static_cast<void>(end());
  if (errors_ >= 0) ::close(errors_);
}

// Waits, unreaped, until it has ended; false when it has not by then.
bool Worker::wait_for_end(int milliseconds) const {
  constexpr int kStep = 5;
  for (int waited = 0; waited <= milliseconds; waited += kStep) {
    siginfo_t ended{};
    if (::waitid(P_PID, static_cast<id_t>(process_), &ended, WEXITED | WNOHANG | WNOWAIT) != 0 || ended.si_pid != 0)
      return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(kStep));
  }
  return false;
}

// Closing the socket asks it to end. Whatever is left of its group is killed before its number can be another's.
int Worker::end() {
  if (socket_ >= 0) ::close(std::exchange(socket_, -1));
  if (process_ < 0) return 0;
  static_cast<void>(wait_for_end(kEndMilliseconds));
  ::kill(-process_, SIGKILL);
  int status = 0;
  while (::waitpid(process_, &status, 0) < 0 && errno == EINTR) {
  }
  process_ = -1;
  return status;
}

std::string Worker::post_mortem() {
  // The stream ends a moment before the process does.
  const bool died = process_ >= 0 && wait_for_end(kEndMilliseconds);
  const int status = end();
  const std::string how =
      died ? fmt::format("the worker died ({})", how_it_ended(status)) : "the worker closed the connection";
  const std::string said = last_line(errors_);
  return said.empty() ? how : fmt::format("{}: {}", how, said);
}

Status Worker::send(const nlohmann::json& header, std::span<const std::byte> payload) {
  if (socket_ < 0) return fail(ErrorCode::kEngine, "the worker is gone");
  const std::string text = header.dump();
  std::vector<std::byte> message(kHeadBytes + text.size());
  const auto header_bytes = static_cast<uint32_t>(text.size());
  const auto payload_bytes = static_cast<uint64_t>(payload.size());
  std::memcpy(message.data(), &header_bytes, sizeof header_bytes);
  std::memcpy(message.data() + sizeof header_bytes, &payload_bytes, sizeof payload_bytes);
  std::memcpy(message.data() + kHeadBytes, text.data(), text.size());
  if (!send_all(socket_, message) || !send_all(socket_, payload)) return fail(ErrorCode::kEngine, "{}", post_mortem());
  return {};
}

bool Worker::receive_all(std::span<std::byte> out) const {
  while (!out.empty()) {
    if (!wait_for_bytes(-1)) return false;
    const ssize_t got = ::recv(socket_, out.data(), out.size(), 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    out = out.subspan(static_cast<size_t>(got));
  }
  return true;
}

Result<nlohmann::json> Worker::receive(std::span<std::byte> payload) {
  if (socket_ < 0) return fail(ErrorCode::kEngine, "the worker is gone");
  std::array<std::byte, kHeadBytes> raw{};
  if (!receive_all(raw)) return lost();
  Head head;
  std::memcpy(&head.header_bytes, raw.data(), sizeof head.header_bytes);
  std::memcpy(&head.payload_bytes, raw.data() + sizeof head.header_bytes, sizeof head.payload_bytes);
  if (head.header_bytes > kMaxHeaderBytes) {
    static_cast<void>(end());
    return fail(ErrorCode::kEngine, "the worker's reply has a header of {} bytes", head.header_bytes);
  }
  std::string text(head.header_bytes, '\0');
  if (!receive_all(std::as_writable_bytes(std::span(text)))) return lost();
  auto header = parse_bounded_json(text, ErrorCode::kEngine, "the worker's reply");
  if (!header || !header->is_object()) {
    static_cast<void>(end());
    if (!header) return fail(std::move(header).error());
    return fail(ErrorCode::kEngine, "the worker's reply is no object");
  }
  if (const auto error = header->find("error"); error != header->end()) {
    const auto missing = header->find("missing");
    const bool is_missing = missing != header->end() && *missing == true;
    return fail(is_missing ? ErrorCode::kEngineMissing : ErrorCode::kEngine, "{}",
                one_line(error->is_string() ? error->get<std::string>() : error->dump()));
  }
  if (head.payload_bytes != payload.size()) {
    static_cast<void>(end());
    return fail(ErrorCode::kEngine, "the worker's reply has {} bytes, expected {}", head.payload_bytes, payload.size());
  }
  if (!receive_all(payload)) return lost();
  return *std::move(header);
}

}  // namespace headrace
