// Runs every target on the inputs in testdata/fuzz/<target>/: the seeds that fuzzing starts from, and what it found.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "target.h"

namespace headrace::fuzz {
namespace {

struct Case {
  Target target;
  std::filesystem::path file;
};

void PrintTo(const Case& c, std::ostream* os) { *os << c.file; }

std::filesystem::path corpus(const Target& target) {
  return std::filesystem::path(HEADRACE_TESTDATA) / "fuzz" / target.name;
}

std::vector<Case> cases() {
  std::vector<Case> out;
  for (const Target& target : targets())
    for (const auto& entry : std::filesystem::directory_iterator(corpus(target)))
      out.push_back({.target = target, .file = entry.path()});
  std::ranges::sort(out, {}, &Case::file);
  return out;
}

class Replay : public ::testing::TestWithParam<Case> {};

// A target ends the program where a reader breaks a promise, so to come back is to pass. ctest bounds the time.
TEST_P(Replay, ComesBack) {
  std::ifstream file(GetParam().file, std::ios::binary);
  ASSERT_TRUE(file.is_open());
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_NO_THROW(GetParam().target.run(std::as_bytes(std::span(bytes))));
}

INSTANTIATE_TEST_SUITE_P(Corpus, Replay, ::testing::ValuesIn(cases()), [](const auto& test) {
  std::string name = std::string(test.param.target.name) + "_" + test.param.file.filename().string();
  std::ranges::replace_if(
      name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

TEST(ReplayCorpus, EveryTargetHasInputs) {
  ASSERT_FALSE(targets().empty());
  for (const Target& target : targets()) EXPECT_FALSE(std::filesystem::is_empty(corpus(target))) << target.name;
}

}  // namespace
}  // namespace headrace::fuzz
