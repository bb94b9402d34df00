// The socket and the process behind an engine, with shells as workers.
#include "engine/worker.h"

#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <thread>

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsError;

// Bytes of a message as a shell's printf writes them: a header of `text`, no payload.
std::string message(const std::string& text, int payload_bytes = 0) {
  return fmt::format(R"(printf '\{:03o}\000\000\000\{:03o}\000\000\000\000\000\000\000%s' '{}' >&3;)", text.size(),
                     payload_bytes, text);
}
const std::string kGreeting = message(R"({"protocol": 2})");

Result<Worker> shell(const std::string& script) { return Worker::start("/bin/sh", {"-c", script, "worker"}); }

TEST(WorkerTest, GreetsAndAnswers) {
  ASSERT_OK_AND_ASSIGN(Worker worker, shell(kGreeting + message(R"({"a": [1, 2]})", 3) + "printf xyz >&3; read x <&3"));
  std::array<std::byte, 3> payload{};
  ASSERT_OK(worker.send({{"op", "any"}}));
  ASSERT_OK_AND_ASSIGN(const auto reply, worker.receive(payload));
  EXPECT_EQ(reply, (nlohmann::json{{"a", {1, 2}}}));
  EXPECT_EQ(payload[2], std::byte{'z'});
}

TEST(WorkerTest, WhatCannotBeStarted) {
  EXPECT_THAT(Worker::start("/nonexistent/python", {}),
              IsError(ErrorCode::kEngineMissing, "/nonexistent/python: cannot be started: No such file or directory"));
  EXPECT_THAT(Worker::start("/dev/null", {}), IsError(ErrorCode::kEngineMissing, HasSubstr("Permission denied")));
  // The last line of what it says is the reason.
  EXPECT_THAT(shell("echo Traceback >&2; echo 'No module named headrace' >&2; exit 1"),
              IsError(ErrorCode::kEngineMissing, "/bin/sh: the worker died (exit code 1): No module named headrace"));
  EXPECT_THAT(shell(message(R"({"protocol": 3})") + "read x <&3"),
              IsError(ErrorCode::kEngineMissing, HasSubstr("speaks protocol 3, expected 2")));
  EXPECT_THAT(shell(message("{}")), IsError(ErrorCode::kEngineMissing, HasSubstr("speaks protocol ?, expected 2")));
}

// Whether it greets or works: the wait ends soon after, and so does the worker.
TEST(WorkerTest, AStopEndsTheWait) {
  for (const bool greets : {false, true}) {
    std::stop_source stop;
    std::thread later([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      stop.request_stop();
    });
    auto worker =
        Worker::start("/bin/sh", {"-c", (greets ? kGreeting : "") + "exec sleep 1000", "worker"}, stop.get_token());
    if (greets) {
      ASSERT_OK(worker);
      const pid_t process = worker->process();
      EXPECT_THAT(worker->receive(), IsError(ErrorCode::kInterrupted, HasSubstr("interrupted")));
      EXPECT_EQ(::kill(process, 0), -1);
    } else {
      EXPECT_THAT(worker, IsError(ErrorCode::kInterrupted, HasSubstr("interrupted")));
    }
    later.join();
  }
}

TEST(WorkerTest, DeathIsOneLine) {
  ASSERT_OK_AND_ASSIGN(Worker worker, shell(kGreeting + "echo 'out of luck' >&2; kill -9 $$"));
  EXPECT_THAT(worker.receive(), IsError(ErrorCode::kEngine, "the worker died (killed by signal 9): out of luck"));
  // From then on it is gone.
  EXPECT_THAT(worker.send({{"op", "any"}}), IsError(ErrorCode::kEngine, "the worker is gone"));
  EXPECT_THAT(worker.receive(), IsError(ErrorCode::kEngine, "the worker is gone"));
}

TEST(WorkerTest, RepliesThatAreNone) {
  const auto reply_of = [](const std::string& script) -> Result<nlohmann::json> {
    HR_TRY(Worker worker, shell(kGreeting + script + "read x <&3"));
    return worker.receive();
  };
  EXPECT_THAT(reply_of(message("[1]")), IsError(ErrorCode::kEngine, HasSubstr("the worker's reply")));
  EXPECT_THAT(reply_of(message("{nonsense")), IsError(ErrorCode::kEngine, HasSubstr("the worker's reply")));
  EXPECT_THAT(reply_of(message("{}", 5)), IsError(ErrorCode::kEngine, HasSubstr("has 5 bytes, expected 0")));
  EXPECT_THAT(reply_of(R"(printf '\377\377\377\377\377\377\377\377\377\377\377\377' >&3;)"),
              IsError(ErrorCode::kEngine, HasSubstr("a header of 4294967295 bytes")));
  // Its own words, one line of them.
  EXPECT_THAT(reply_of(message(R"({"error": "no memory\nmore"})")), IsError(ErrorCode::kEngine, "no memory"));
  EXPECT_THAT(reply_of(message(R"({"error": "no iree", "missing": true})")),
              IsError(ErrorCode::kEngineMissing, "no iree"));
}

TEST(WorkerTest, EndsWithItsOwner) {
  pid_t process = -1;
  {
    // Deaf to the end of its stream, and with a child: both are killed.
    ASSERT_OK_AND_ASSIGN(const Worker worker, shell(kGreeting + "sleep 600 & sleep 600"));
    process = worker.process();
    EXPECT_EQ(::kill(process, 0), 0);
  }
  EXPECT_NE(::kill(process, 0), 0);
  // Its group is gone as well, once init has reaped it.
  for (int i = 0; i < 400 && ::kill(-process, 0) == 0; ++i) ::usleep(5000);
  EXPECT_NE(::kill(-process, 0), 0);
}

}  // namespace
}  // namespace headrace
