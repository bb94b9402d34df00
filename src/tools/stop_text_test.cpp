#include "tools/stop_text.h"

#include <gtest/gtest.h>

namespace headrace::tools {
namespace {

struct Shown {
  std::string text;
  bool stopped{};
};

// The text in parts of `size` bytes.
Shown show(const std::string& text, const std::vector<std::string>& stops, size_t size) {
  StopText stop(stops);
  Shown out;
  for (size_t at = 0; at < text.size() && !stop.stopped(); at += size) out.text += stop.push(text.substr(at, size));
  out.text += stop.finish();
  out.stopped = stop.stopped();
  return out;
}

TEST(StopText, EndsAtTheFirstStringHoweverThePartsFall) {
  struct Row {
    std::string text;
    std::vector<std::string> stops;
    std::string shown;
    bool stopped;
  };
  const std::vector<Row> rows = {
      {"one two three", {"two"}, "one ", true},
      {"one two three", {"four"}, "one two three", false},
      {"aaab", {"aab"}, "a", true},
      {"ababac", {"abac"}, "ab", true},
      {"a\n\nb", {"\n\n"}, "a", true},
      {"xStop", {"Stop!", "op"}, "xSt", true},
      {"x", {"xy"}, "x", false},
      {"end", {"end"}, "", true},
      {"", {"a"}, "", false},
      {"text", {}, "text", false},
      {"one two", {"two", "one"}, "", true},
      {"abcd", {"bc", "abcd"}, "", true},
      {"abce", {"bc", "abcd"}, "a", true},
  };
  for (const Row& row : rows)
    for (const size_t size : {1, 2, 3, 100}) {
      const Shown shown = show(row.text, row.stops, size);
      EXPECT_EQ(shown.text, row.shown) << row.text << " by " << size;
      EXPECT_EQ(shown.stopped, row.stopped) << row.text << " by " << size;
    }
}

}  // namespace
}  // namespace headrace::tools
