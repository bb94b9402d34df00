// Ends a text at the first of several strings, as it comes in parts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headrace::tools {

class StopText {
 public:
  // None of the strings is empty.
  explicit StopText(std::vector<std::string> stops) : stops_(std::move(stops)) {}

  // The text that may be shown now: up to the first stop string, or up to what may still become one. Of stop strings
  // that overlap the one that begins first ends the text. Nothing after stopped().
  [[nodiscard]] std::string push(std::string_view part);
  [[nodiscard]] bool stopped() const { return stopped_; }
  // What was held back, when nothing more comes.
  [[nodiscard]] std::string finish();

 private:
  std::vector<std::string> stops_;
  std::string held_;
  bool stopped_{};
};

}  // namespace headrace::tools
