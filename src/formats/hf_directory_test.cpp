#include "formats/hf_directory.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/testing.h"
#include "formats/safetensors_testing.h"

namespace headrace::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

namespace fs = std::filesystem;

std::string one_tensor() { return build_safetensors({{.name = "a", .shape = {1}, .bytes = "aaaa"}}); }

std::vector<std::string> names(const Checkpoint& checkpoint) {
  std::vector<std::string> out;
  for (const TensorEntry& t : checkpoint.tensors) out.push_back(t.name);
  return out;
}

Result<Checkpoint> open(const std::string& path) {
  Warnings warnings;
  return open_checkpoint(path, warnings);
}

TEST(HfDirectory, OpensOneFileByDirectoryOrByName) {
  const TempDir dir;
  static_cast<void>(dir.write("config.json", R"({"hidden_size":8})"));
  static_cast<void>(dir.write("model.safetensors", one_tensor()));
  static_cast<void>(dir.write("consolidated.safetensors", "stray"));  // C10: ignored
  for (const std::string& path : {dir.path(), dir.path() + "/", dir.path() + "/model.safetensors"}) {
    ASSERT_OK_AND_ASSIGN(const Checkpoint c, open(path));
    EXPECT_EQ(c.kind, ContainerKind::kSafetensors);
    EXPECT_THAT(names(c), ElementsAre("a"));
    EXPECT_EQ(c.files.size(), 1U);
    EXPECT_EQ(std::get<int64_t>(c.metadata.at("hidden_size").value), 8);
    EXPECT_EQ(c.header_xxh3.size(), 32U);
  }
}

TEST(HfDirectory, OpensShardsByDirectoryIndexOrAnyShard) {
  const ShardedDir dir;
  std::string hash;
  for (const std::string& path :
       {dir.path(), dir.file(ShardedDir::kIndexName), dir.file(ShardedDir::kFirst), dir.file(ShardedDir::kSecond)}) {
    Warnings warnings;
    ASSERT_OK_AND_ASSIGN(const Checkpoint c, open_checkpoint(path, warnings));
    EXPECT_THAT(warnings.lines, IsEmpty());
    EXPECT_THAT(names(c), ElementsAre("a", "b", "c"));
    EXPECT_EQ(c.files.size(), 2U);
    EXPECT_EQ(c.find("c")->file, 1U);
    EXPECT_EQ(c.find("b")->file, 0U);
    EXPECT_TRUE(hash.empty() || hash == c.header_xxh3);
    hash = c.header_xxh3;
  }
}

// The hash is of headers, index and configuration.
TEST(HfDirectory, HashCoversEveryHeader) {
  const ShardedDir dir;
  ASSERT_OK_AND_ASSIGN(const Checkpoint before, open(dir.path()));
  dir.write("config.json", R"({"model_type":"none" })");
  ASSERT_OK_AND_ASSIGN(const Checkpoint config, open(dir.path()));
  EXPECT_NE(config.header_xxh3, before.header_xxh3);
  dir.write_index(ShardedDir::kMap, R"({ "total_size":20})");
  ASSERT_OK_AND_ASSIGN(const Checkpoint index, open(dir.path()));
  EXPECT_NE(index.header_xxh3, config.header_xxh3);
  dir.write("generation_config.json", "{}");
  ASSERT_OK_AND_ASSIGN(const Checkpoint generation, open(dir.path()));
  EXPECT_NE(generation.header_xxh3, index.header_xxh3);
}

TEST(HfDirectory, SaysWhatADirectoryLacks) {
  const TempDir dir;
  const auto error = [&](std::string_view message) {
    EXPECT_THAT(open(dir.path()),
                IsError(ErrorCode::kNotACheckpoint, HasSubstr(dir.path() + ": " + std::string(message))));
  };
  error("no checkpoint: there is neither model.safetensors nor model.safetensors.index.json in the directory");
  static_cast<void>(dir.write("pytorch_model.bin", ""));
  error(
      "no checkpoint: there is neither model.safetensors nor model.safetensors.index.json in the directory; it holds "
      "pytorch_model.bin: convert the model to safetensors");
  static_cast<void>(dir.write("adapter_model.safetensors", ""));
  error(
      "no checkpoint: there is neither model.safetensors nor model.safetensors.index.json in the directory; it holds "
      "adapter_model.safetensors");
  static_cast<void>(dir.write("manifest.json", ""));
  error(
      "no checkpoint: there is neither model.safetensors nor model.safetensors.index.json in the directory; it holds a "
      "manifest.json: an export, not a model");
  static_cast<void>(dir.write("q8.gguf", ""));
  static_cast<void>(dir.write("f32.gguf", ""));
  error(
      "no checkpoint: there is neither model.safetensors nor model.safetensors.index.json in the directory; it holds "
      "GGUF files, name one: f32.gguf, q8.gguf");
  static_cast<void>(dir.write("model.safetensors", one_tensor()));
  error("no checkpoint: there is no config.json in the directory");
  static_cast<void>(dir.write("model.safetensors.index.json", R"({"weight_map":{"a":"x.safetensors"}})"));
  error("holds both model.safetensors and model.safetensors.index.json, which names other files: name the one meant");
}

TEST(HfDirectory, AnIndexOfTheOneFileIsThatFile) {
  const TempDir dir;
  static_cast<void>(dir.write("config.json", "{}"));
  static_cast<void>(dir.write("model.safetensors", one_tensor()));
  ASSERT_OK_AND_ASSIGN(const Checkpoint whole, open(dir.path()));
  const std::string name = whole.tensors.at(0).name;
  static_cast<void>(
      dir.write("model.safetensors.index.json", fmt::format(R"({{"weight_map":{{"{}":"model.safetensors"}}}})", name)));
  ASSERT_OK_AND_ASSIGN(const Checkpoint set, open(dir.path()));
  ASSERT_EQ(set.tensors.size(), whole.tensors.size());
  EXPECT_EQ(set.tensors[0].name, name);
}

TEST(HfDirectory, AFileAloneWantsItsConfigAndIndex) {
  const TempDir dir;
  const std::string plain = dir.write("x.safetensors", one_tensor());
  EXPECT_THAT(open(plain), IsError(ErrorCode::kNotACheckpoint, HasSubstr("there is no config.json in the directory")));
  const std::string shard = dir.write("x-00001-of-00002.safetensors", one_tensor());
  EXPECT_THAT(open(shard), IsError(ErrorCode::kSafetensorsSet,
                                   HasSubstr("named as one shard of several, and there is no index: " + dir.path() +
                                             "/x.safetensors.index.json")));
  const std::string only = dir.write("y-00001-of-00001.safetensors", one_tensor());
  static_cast<void>(dir.write("config.json", "{}"));
  EXPECT_OK(open(plain));
  EXPECT_OK(open(only));
}

TEST(HfDirectory, AShardThatTheIndexDoesNotNameIsRefused) {
  const ShardedDir dir;
  dir.write("model-00003-of-00002.safetensors", one_tensor());
  EXPECT_THAT(open(dir.file("model-00003-of-00002.safetensors")),
              IsError(ErrorCode::kSafetensorsSet, HasSubstr("is not among the shards that")));
}

TEST(HfDirectory, ThingsThatAreNoSafetensorsAreCalledByName_A20) {
  const ShardedDir dir;
  dir.write(ShardedDir::kSecond, "version https://git-lfs.github.com/spec/v1\n");
  EXPECT_THAT(open(dir.path()), IsError(ErrorCode::kNotACheckpoint,
                                        HasSubstr("model-00002-of-00002.safetensors: not a checkpoint: a git-LFS")));
  const std::string pointer = "version https://git-lfs.github.com/spec/v1\n";
  dir.write(ShardedDir::kIndexName, pointer);
  EXPECT_THAT(open(dir.path()),
              IsError(ErrorCode::kSafetensorsSet, HasSubstr("index.json: not JSON: a git-LFS pointer")));
  dir.write("config.json", pointer);
  EXPECT_THAT(open(dir.path()), IsError(ErrorCode::kConfigFile, HasSubstr("config.json: not JSON: a git-LFS pointer")));
  dir.write("config.json", "{}");
  EXPECT_THAT(
      open(dir.file("config.json")),
      IsError(ErrorCode::kNotACheckpoint, HasSubstr("JSON text; of a Hugging Face checkpoint, give the directory")));
}

TEST(HfDirectory, MissingShardsAreAllNamed_C10) {
  const ShardedDir dir;
  dir.remove(ShardedDir::kFirst);
  EXPECT_THAT(open(dir.path()), IsError(ErrorCode::kSafetensorsSet,
                                        AllOf(HasSubstr("1 of 2 shards are missing in the directory: "),
                                              HasSubstr(ShardedDir::kFirst), Not(HasSubstr(ShardedDir::kSecond)))));
  dir.remove(ShardedDir::kSecond);
  EXPECT_THAT(open(dir.path()),
              IsError(ErrorCode::kSafetensorsSet,
                      HasSubstr("2 of 2 shards are missing in the directory: model-00001-of-00002.safetensors, "
                                "model-00002-of-00002.safetensors")));
}

// Pinned: a tensor is in the index's shard and nowhere else, so that no stale copy can be meant.
TEST(HfDirectory, IndexAndShardsMustAgree_C10) {
  const ShardedDir dir;
  dir.write(ShardedDir::kSecond, build_safetensors({{.name = "c", .shape = {2}, .bytes = "ccccCCCC"},
                                                    {.name = "a", .shape = {1}, .bytes = "stal"}}));
  EXPECT_THAT(open(dir.path()),
              IsError(ErrorCode::kSafetensorsSet,
                      HasSubstr("model-00002-of-00002.safetensors: holds tensor 'a', which the index gives "
                                "to model-00001-of-00002.safetensors")));
  dir.write(ShardedDir::kSecond, build_safetensors({{.name = "c", .shape = {2}, .bytes = "ccccCCCC"},
                                                    {.name = "d", .shape = {1}, .bytes = "dddd"}}));
  EXPECT_THAT(open(dir.path()),
              IsError(ErrorCode::kSafetensorsSet,
                      HasSubstr("model-00002-of-00002.safetensors: the index does not name its tensor 'd'")));
  dir.write(ShardedDir::kSecond, build_safetensors({}));
  EXPECT_THAT(open(dir.path()),
              IsError(ErrorCode::kSafetensorsSet,
                      HasSubstr("tensor 'c' is given to model-00002-of-00002.safetensors, which does not hold it")));
}

TEST(HfDirectory, AWrongTotalIsAWarning) {
  const ShardedDir dir;
  dir.write_index(ShardedDir::kMap, R"({"total_size":21})");
  Warnings warnings;
  EXPECT_OK(open_checkpoint(dir.path(), warnings));
  EXPECT_THAT(warnings.lines, ElementsAre(HasSubstr("metadata.total_size is 21, the tensors take 20 bytes")));
  for (const std::string_view other : {"{}", R"({"total_size":20.0})", R"({"total_size":"20"})", "null"}) {
    dir.write_index(ShardedDir::kMap, other);
    warnings.lines.clear();
    EXPECT_OK(open_checkpoint(dir.path(), warnings));
    EXPECT_THAT(warnings.lines, IsEmpty()) << other;
  }
}

// Each target exists and is a good file, so that only the check can fail.
TEST(HfDirectory, AnIndexReachesNoOtherDirectory_C12) {
  const TempDir dir;
  fs::create_directories(dir.path() + "/set/sub");
  fs::create_directories(dir.path() + "/set/a");
  const auto file = [&](std::string_view name) { return dir.write(name, one_tensor()); };
  static_cast<void>(dir.write("set/config.json", "{}"));
  const std::string absolute = file("x.safetensors");
  static_cast<void>(file("set/sub/ok.safetensors"));
  static_cast<void>(file("set/C:\\x.safetensors"));
  static_cast<void>(file("set/x.bin"));
  static_cast<void>(file("set/.safetensors"));
  const auto quoted = [](std::string text) {
    for (size_t at = 0; (at = text.find('\\', at)) != std::string::npos; at += 2) text.insert(at, "\\");
    return "\"" + text + "\"";
  };
  const auto index = [&](const std::string& shard) {
    static_cast<void>(dir.write("set/model.safetensors.index.json", R"({"weight_map":{"a":)" + shard + "}}"));
  };
  for (const std::string& bad :
       {std::string("../x.safetensors"), absolute, std::string("a/../../x.safetensors"),
        std::string("sub/ok.safetensors"), std::string("C:\\x.safetensors"), std::string(), std::string("x.bin"),
        std::string(".safetensors"), std::string(".."), std::string(300, 's') + ".safetensors"}) {
    index(quoted(bad));
    EXPECT_THAT(open(dir.path() + "/set"),
                IsError(ErrorCode::kSafetensorsSet,
                        HasSubstr("expected the name of a .safetensors file of the same directory")))
        << bad;
  }
  index("5");
  EXPECT_THAT(
      open(dir.path() + "/set"),
      IsError(ErrorCode::kSafetensorsSet, HasSubstr("tensor 'a': its shard is a number, expected a file's name")));
  // Pinned: a symbolic link is followed wherever it leads, as caches of models need it.
  fs::create_symlink(absolute, dir.path() + "/set/link.safetensors");
  index("\"link.safetensors\"");
  EXPECT_OK(open(dir.path() + "/set"));
}

TEST(HfDirectory, AMalformedIndexIsRefused) {
  const ShardedDir dir;
  const std::pair<std::string_view, std::string_view> cases[] = {
      {"", "not JSON: empty"},
      {"[]", "not a JSON object"},
      {"{}", "'weight_map' is missing"},
      {R"({"weight_map":[]})", "'weight_map' is array"},
      {R"({"weight_map":{}})", "'weight_map' is empty"},
      {R"({"weight_map":{"a":"x.safetensors","a":"y.safetensors"}})", "key 'a' is repeated in one object"},
      {R"({"weight_map":{"a\n":"x.safetensors"}})", "a tensor's name \"a\\n\" is empty or holds control characters"},
      {R"({"weight_map":{"a":null}})", "tensor 'a': its shard is a null"},
      {R"({"weight_map":{"a":"x.safetensors"}} x)", "not JSON"},
  };
  for (const auto& [text, message] : cases) {
    dir.write(ShardedDir::kIndexName, text);
    EXPECT_THAT(open(dir.path()), IsError(ErrorCode::kSafetensorsSet, HasSubstr(message))) << text;
  }
  std::string many = "{";
  for (int i = 0; i <= 10'000; ++i) many += fmt::format(R"("{}":"{}.safetensors",)", i, i);
  many.back() = '}';
  dir.write_index(many);
  EXPECT_THAT(open(dir.path()), IsError(ErrorCode::kSafetensorsSet, HasSubstr("more than the 10000 shards")));
}

}  // namespace
}  // namespace headrace::testing
