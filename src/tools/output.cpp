#include "tools/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tools/text.h"

namespace headrace::tools {
namespace {

// Returns 0 or errno.
int write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return errno;
    bytes.remove_prefix(static_cast<size_t>(n));
  }
  return 0;
}

}  // namespace

void Output::text(std::string_view bytes) {
  if (closed_) return;
  const int error = write_all(out_fd_, bytes);
  if (error == EPIPE) {
    closed_ = true;
  } else if (error != 0) {
    throw OutputError(fmt::format("standard output: {}", std::strerror(error)));
  }
}

void Output::document(const Json& json) { text(json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n"); }

void Output::warnings(const Warnings& warnings) {
  warnings_.insert(warnings_.end(), warnings.lines.begin(), warnings.lines.end());
  if (options_.json) return;
  for (const std::string& line : warnings.lines) error_line("warning: ", line);
}

void Output::error(std::string_view code, std::string_view message, const std::vector<std::string>& more) {
  error_line("error: ", message);
  for (const std::string& line : more) error_line("error: ", line);
  if (!options_.json) return;
  Json json = {{"error", {{"code", code}, {"message", message}, {"more", more}}}};
  if (!warnings_.empty()) json["warnings"] = warnings_;
  document(json);
}

void Output::diagnostic(std::string_view bytes) const { static_cast<void>(write_all(err_fd_, bytes)); }

void Output::error_line(std::string_view prefix, std::string_view message) const {
  diagnostic(fmt::format("{}{}\n", prefix, printable(message)));
}

}  // namespace headrace::tools
