// How far the weights are: a bar that redraws itself on a terminal, a few lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace headrace::tools {

enum class ProgressStyle : uint8_t { kBar, kPlain, kNone };

// `auto`, `plain` or `none`; auto is a bar when standard error is a terminal that can redraw a line, else plain.
// Throws UsageError.
[[nodiscard]] ProgressStyle progress_style(std::string_view mode);
// Columns of the terminal on standard error; 80 where that cannot be told.
[[nodiscard]] int terminal_columns();

class Progress {
 public:
  using Clock = std::chrono::steady_clock;
  struct Options {
    ProgressStyle style{ProgressStyle::kNone};
    int columns{80};
    std::function<void(std::string_view)> write;  // to the terminal
    std::function<Clock::time_point()> now = Clock::now;
  };
  explicit Progress(Options options) : options_(std::move(options)) {}
  ~Progress() { finish(); }
  Progress(const Progress&) = delete;
  Progress(Progress&&) = delete;
  Progress& operator=(const Progress&) = delete;
  Progress& operator=(Progress&&) = delete;

  void update(uint64_t bytes_done, uint64_t bytes_total);
  // Takes the bar off the line. Later updates are ignored.
  void finish();

 private:
  void bar(uint64_t done, uint64_t total, double seconds);
  void plain(uint64_t done, uint64_t total, double seconds);

  Options options_;
  std::optional<Clock::time_point> start_;
  Clock::time_point drawn_;
  bool on_line_{};
  bool finished_{};
  uint64_t quarters_{};
};

}  // namespace headrace::tools
