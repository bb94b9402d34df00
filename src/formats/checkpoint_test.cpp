#include "formats/checkpoint.h"

#include <gtest/gtest.h>

#include "base/testing.h"
#include "formats/gguf_testing.h"

namespace headrace::testing {
namespace {

using ::testing::HasSubstr;

// A20: every wrong kind of file is called what it is.
TEST(OpenCheckpoint, SaysWhatTheFileIs_A20) {
  const std::pair<std::string, std::string> cases[] = {
      {"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "a git-LFS pointer, not the weights"},
      {"<!DOCTYPE html><html></html>", "an HTML page"},
      {"  \n<HTML lang=en>", "an HTML page"},
      {"", "empty"},
      {"GGU", "too short to be a checkpoint: 3 bytes"},
      {"GGJT" + std::string(40, '\0'), "a GGJT file from before GGUF"},
      {"tjgg" + std::string(40, '\0'), "a GGJT file from before GGUF"},
      {"lmgg" + std::string(40, '\0'), "a GGML file from before GGUF"},
      {"FUGG" + std::string(40, '\0'), "a big-endian GGUF"},
      {std::string("PK\x03\x04") + std::string(40, '\0'), "a zip archive"},
      {"\x80\x02}q", "a Python pickle"},
      {"\x1F\x8B\x08", "gzip data"},
      {R"({"architectures": ["LlamaForCausalLM"]})", "JSON text; of a Hugging Face checkpoint, give the directory"},
      {"hello, world", "of no known format"},
      {std::string(64, '\0'), "of no known format"},
  };
  for (const auto& [bytes, what] : cases)
    EXPECT_THAT(open_bytes(bytes), IsError(ErrorCode::kNotACheckpoint, HasSubstr("t.gguf: not a checkpoint: " + what)));
}

// First bytes decide, not names.
TEST(OpenCheckpoint, SafetensorsUnderAnotherNameAreRead) {
  const std::string json = R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})";
  const TempDir dir;
  static_cast<void>(dir.write("config.json", "{}"));
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const Checkpoint c,
                       open_checkpoint(dir.write("t.gguf", le64(json.size()) + json + "abcd"), warnings));
  EXPECT_EQ(c.kind, ContainerKind::kSafetensors);
}

TEST(OpenCheckpoint, DirectoriesPipesAndNothingAreRefused_A20) {
  const TempDir dir;
  Warnings warnings;
  EXPECT_THAT(open_checkpoint(dir.path(), warnings),
              IsError(ErrorCode::kNotACheckpoint, HasSubstr("there is neither model.safetensors nor")));
  EXPECT_THAT(open_checkpoint(dir.path() + "/nosuch.gguf", warnings),
              IsError(ErrorCode::kFileOpen, HasSubstr("nosuch.gguf: cannot be opened: No such file")));
  EXPECT_THAT(open_checkpoint("/dev/null", warnings), IsError(ErrorCode::kFileOpen, HasSubstr("not a regular file")));
  EXPECT_THAT(open_checkpoint("", warnings), IsError(ErrorCode::kFileOpen, HasSubstr("cannot be opened")));
}

}  // namespace
}  // namespace headrace::testing
