// The two streams of a command. Results go to standard output; notes, warnings, errors and progress to standard error.
#pragma once

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace headrace::tools {

using Json = nlohmann::ordered_json;

// A stream cannot be written (other than by a reader that went away).
struct OutputError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct OutputOptions {
  bool json{};   // results as one JSON document; no notes
  bool quiet{};  // no notes, no progress
};

class Output {
 public:
  explicit Output(OutputOptions options, int out_fd = 1, int err_fd = 2)
      : options_(options), out_fd_(out_fd), err_fd_(err_fd) {}

  [[nodiscard]] bool json() const { return options_.json; }
  [[nodiscard]] bool quiet() const { return options_.quiet; }
  // True once the reader of standard output went away: what follows is dropped, which is no failure.
  [[nodiscard]] bool closed() const { return closed_; }

  // Bytes as they are, at once.
  void text(std::string_view bytes);
  // One indented document and a newline.
  void document(const Json& json);

  // For people, on standard error; dropped when quiet or json.
  template <class... Args>
  void note(fmt::format_string<Args...> format, Args&&... args) {
    if (!options_.quiet && !options_.json) error_line("", fmt::format(format, std::forward<Args>(args)...));
  }
  // `warning: ...`, a line each, never dropped by quiet. With json they are the caller's to put into the document;
  // after an error they are in error()'s.
  void warnings(const Warnings& warnings);
  // `error: ...` and a line for each further fault; with json also {"error": {...}} on standard output.
  void error(std::string_view code, std::string_view message, const std::vector<std::string>& more = {});
  // Bytes for standard error as they are; failures to write there are ignored.
  void diagnostic(std::string_view bytes) const;

 private:
  void error_line(std::string_view prefix, std::string_view message) const;

  OutputOptions options_;
  int out_fd_;
  int err_fd_;
  bool closed_{};
  std::vector<std::string> warnings_;
};

}  // namespace headrace::tools
