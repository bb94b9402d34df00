#include <fcntl.h>
#include <unistd.h>

#include "tools/command.h"

namespace {

// Started with a standard stream closed, the next file opened would take its number and receive what is printed.
void open_missing_streams() {
  for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd)
    if (fcntl(fd, F_GETFD) == -1) static_cast<void>(open("/dev/null", O_RDWR));
}

}  // namespace

int main(int argc, char** argv) {
  open_missing_streams();
  return headrace::tools::run_command_line({argv + (argc > 0 ? 1 : 0), argv + argc});
}
