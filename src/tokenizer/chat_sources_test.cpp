#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/testing.h"
#include "tokenizer/chat_template.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

MetaValue text(std::string value) { return {.value = std::move(value)}; }

Checkpoint gguf() {
  Checkpoint out;
  out.kind = ContainerKind::kGguf;
  out.metadata["tokenizer.ggml.tokens"] = {.value = MetaArray(std::vector<std::string>{"<pad>", "<s>", "</s>"})};
  out.metadata["tokenizer.ggml.bos_token_id"] = {.value = uint64_t{1}};
  out.metadata["tokenizer.ggml.eos_token_id"] = {.value = uint64_t{2}};
  out.metadata["tokenizer.chat_template"] = text("plain");
  out.metadata["tokenizer.chat_template.tool_use"] = text("tools");
  out.metadata["tokenizer.chat_templates"] = {.value = MetaArray(std::vector<std::string>{"tool_use"})};
  return out;
}

class Directory {
 public:
  explicit Directory(const std::string& name) : path_(std::filesystem::path(::testing::TempDir()) / ("chat_" + name)) {
    std::filesystem::remove_all(path_);
    std::filesystem::create_directories(path_ / "additional_chat_templates");
  }
  void write(const std::string& name, const std::string& content) const { std::ofstream(path_ / name) << content; }
  [[nodiscard]] Result<ChatTemplates> read() const {
    Checkpoint checkpoint;
    checkpoint.kind = ContainerKind::kSafetensors;
    SourceFile file;
    file.path = (path_ / "model.safetensors").string();
    checkpoint.files.push_back(std::move(file));
    return read_chat_templates(checkpoint);
  }

 private:
  std::filesystem::path path_;
};

TEST(ChatSources, GgufHasNamedTemplates) {
  const auto found = read_chat_templates(gguf());
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->templates.size(), 2U);
  EXPECT_EQ(found->templates[0],
            (ChatTemplate{.name = "default", .source = "plain", .origin = "tokenizer.chat_template"}));
  EXPECT_EQ(found->templates[1].name, "tool_use");
  EXPECT_EQ(found->special_tokens, (std::map<std::string, std::string>{{"bos_token", "<s>"}, {"eos_token", "</s>"}}));
}

TEST(ChatSources, GgufFaults) {
  Checkpoint outside = gguf();
  outside.metadata["tokenizer.ggml.bos_token_id"] = {.value = uint64_t{3}};
  EXPECT_THAT(read_chat_templates(outside), IsError(ErrorCode::kConfigValue, HasSubstr("bos_token_id: token 3")));
  Checkpoint number = gguf();
  number.metadata["tokenizer.chat_template"] = {.value = uint64_t{3}};
  EXPECT_THAT(read_chat_templates(number), IsError(ErrorCode::kConfigValue, HasSubstr("tokenizer.chat_template")));
}

TEST(ChatSources, HuggingFaceTextOrList) {
  const Directory dir("text_or_list");
  EXPECT_THAT(dir.read(), IsOk());
  dir.write("tokenizer_config.json",
            R"({"chat_template": "one", "bos_token": "<s>", "eos_token": {"content": "</s>", "lstrip": false}})");
  auto found = dir.read();
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->templates.size(), 1U);
  EXPECT_EQ(found->templates[0].source, "one");
  EXPECT_EQ(found->special_tokens, (std::map<std::string, std::string>{{"bos_token", "<s>"}, {"eos_token", "</s>"}}));

  dir.write("tokenizer_config.json",
            R"({"chat_template": [{"name": "default", "template": "a"}, {"name": "rag", "template": "b"}]})");
  dir.write("special_tokens_map.json", R"({"bos_token": "<b>"})");
  found = dir.read();
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->templates.size(), 2U);
  EXPECT_EQ(found->templates[1].name, "rag");
  EXPECT_EQ(found->special_tokens.at("bos_token"), "<b>");

  dir.write("chat_template.jinja", "file");
  dir.write("additional_chat_templates/tool_use.jinja", "more");
  found = dir.read();
  ASSERT_THAT(found, IsOk());
  ASSERT_EQ(found->templates.size(), 2U);
  EXPECT_EQ(found->templates[0].source, "file");
  EXPECT_EQ(found->templates[1].name, "tool_use");
}

TEST(ChatSources, HuggingFaceFaults) {
  const Directory dir("faults");
  const auto error = [&dir](const std::string& config, ErrorCode code, const std::string& part) {
    dir.write("tokenizer_config.json", config);
    EXPECT_THAT(dir.read(), IsError(code, HasSubstr(part))) << config;
  };
  error(R"({"chat_template": 3})", ErrorCode::kChatTemplate, "expected a text or a list");
  error(R"({"chat_template": [3]})", ErrorCode::kChatTemplate, "an item without");
  error(R"({"chat_template": [{"name": "a", "template": "x"}, {"name": "a", "template": "y"}]})",
        ErrorCode::kChatTemplate, "'a' is there twice");
  error(R"({"chat_template": )", ErrorCode::kConfigFile, "not JSON");
  dir.write("tokenizer_config.json", "{}");
  dir.write("chat_template.jinja", std::string((1 << 20) + 1, ' '));
  EXPECT_THAT(dir.read(), IsError(ErrorCode::kChatTemplate, HasSubstr("more than the")));
}

TEST(ChatSources, AnExportsFileHoldsThemAll) {
  const auto found = read_chat_templates(gguf());
  ASSERT_THAT(found, IsOk());
  const auto text = chat_file(*found);
  ASSERT_TRUE(text);
  const auto back = parse_chat_file(*text, "f");
  ASSERT_THAT(back, IsOk());
  EXPECT_EQ(back->templates, found->templates);
  EXPECT_EQ(back->special_tokens, found->special_tokens);
  EXPECT_EQ(chat_file({}), std::nullopt);
  for (const char* bad :
       {"[]", "{}", R"({"special_tokens": {"a": 1}})", R"({"special_tokens": {}})",
        R"({"special_tokens": {}, "templates": [1]})", R"({"special_tokens": {}, "templates": [{"name": "a"}]})",
        R"({"special_tokens": {}, "templates": [{"name": "a", "origin": "", "template": ""},
                             {"name": "a", "origin": "", "template": ""}]})"})
    EXPECT_THAT(parse_chat_file(bad, "f"), IsError(ErrorCode::kChatTemplate, HasSubstr("f: "))) << bad;
}

}  // namespace
}  // namespace headrace
