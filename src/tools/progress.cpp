#include "tools/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "tools/text.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

constexpr auto kRedrawEvery = std::chrono::milliseconds(100);
constexpr std::string_view kEraseLine = "\r\x1B[K";

std::string rate_text(uint64_t bytes, double seconds) {
  return seconds <= 0 ? "" : bytes_text(static_cast<uint64_t>(static_cast<double>(bytes) / seconds)) + "/s";
}

std::string left_text(uint64_t done, uint64_t total, double seconds) {
  if (done == 0 || seconds <= 0) return "";
  const double left = static_cast<double>(total - done) * seconds / static_cast<double>(done);
  const auto whole = std::llround(left);
  return fmt::format("{}:{:02} left", whole / 60, whole % 60);
}

}  // namespace

ProgressStyle progress_style(std::string_view mode) {
  if (mode == "plain") return ProgressStyle::kPlain;
  if (mode == "none") return ProgressStyle::kNone;
  if (mode != "auto") wrong_usage("--progress: '{}' is not a mode; expected auto, plain or none", printable(mode));
  const char* term = std::getenv("TERM");
  const bool can_redraw = term != nullptr && std::string_view(term) != "dumb" && *term != '\0';
  return isatty(STDERR_FILENO) == 1 && can_redraw ? ProgressStyle::kBar : ProgressStyle::kPlain;
}

int terminal_columns() {
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void Progress::update(uint64_t bytes_done, uint64_t bytes_total) {
  if (finished_ || options_.style == ProgressStyle::kNone || bytes_total == 0) return;
  const auto now = options_.now();
  if (!start_) start_ = now;
  const double seconds = std::chrono::duration<double>(now - *start_).count();
  const uint64_t done = std::min(bytes_done, bytes_total);
  if (options_.style == ProgressStyle::kPlain) return plain(done, bytes_total, seconds);
  if (on_line_ && now - drawn_ < kRedrawEvery) return;
  drawn_ = now;
  bar(done, bytes_total, seconds);
}

void Progress::finish() {
  if (on_line_) options_.write(kEraseLine);
  on_line_ = false;
  finished_ = true;
}

// The line is one column short of the terminal's width, so that it never wraps; the bar takes what the numbers leave.
void Progress::bar(uint64_t done, uint64_t total, double seconds) {
  const double part = static_cast<double>(done) / static_cast<double>(total);
  const std::string numbers = fmt::format(" {:3.0f}%  {} of {}  {}  {}", part * 100, bytes_text(done),
                                          bytes_text(total), rate_text(done, seconds), left_text(done, total, seconds));
  std::string line = "weights ";
  const int room = std::min(options_.columns - 1 - static_cast<int>(line.size() + numbers.size()) - 2, 40);
  if (room >= 5) {
    const auto full = static_cast<size_t>(part * room);
    line += "[" + std::string(full, '#') + std::string(static_cast<size_t>(room) - full, '.') + "]";
  }
  line += numbers;
  line.resize(std::min(line.size(), static_cast<size_t>(std::max(options_.columns - 1, 1))));
  options_.write(fmt::format("{}{}", kEraseLine, line));
  on_line_ = true;
}

void Progress::plain(uint64_t done, uint64_t total, double seconds) {
  const uint64_t quarters =
      done == total ? 4 : static_cast<uint64_t>(4.0 * static_cast<double>(done) / static_cast<double>(total));
  if (quarters <= quarters_) return;
  quarters_ = quarters;
  const std::string rate = rate_text(done, seconds);
  options_.write(fmt::format("weights: {} of {} ({:.0f}%){}{}\n", bytes_text(done), bytes_text(total),
                             100 * static_cast<double>(done) / static_cast<double>(total), rate.empty() ? "" : ", ",
                             rate));
}

}  // namespace headrace::tools
