#include "weights/load.h"

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/testing.h"
#include "formats/gguf_testing.h"
#include "weights/weights_testing.h"

namespace headrace {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the kit
using ::testing::HasSubstr;
using Json = nlohmann::ordered_json;

class LoadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Warnings warnings;
    auto checkpoint = open_checkpoint(dir_.write("a.gguf", build_gguf(tiny())), warnings);
    ASSERT_OK(checkpoint);
    out_ = dir_.path() + "/out";
    ASSERT_OK(export_small(out_, *checkpoint, "one"));
    auto loaded = load_export(out_);
    ASSERT_OK(loaded);
    manifest_ = loaded->manifest;
    archive_ = out_ + "/" + manifest_.archives.at(0).file;
  }
  // Changes the archive's JSON header, keeping its length.
  void change_header(const std::string& from, const std::string& to) const {
    std::string bytes = file_bytes(archive_);
    const size_t at = bytes.find(from);
    ASSERT_NE(at, std::string::npos);
    ASSERT_EQ(from.size(), to.size());
    bytes.replace(at, from.size(), to);
    std::ofstream(archive_, std::ios::binary) << bytes;
  }

  TempDir dir_;
  std::string out_;
  std::string archive_;
  Manifest manifest_;
};

TEST_F(LoadTest, NoExport) {
  EXPECT_THAT(load_export(dir_.path() + "/nowhere"), IsError(ErrorCode::kFileOpen, HasSubstr("nowhere/manifest.json")));
  EXPECT_THAT(load_export(dir_.path()), IsError(ErrorCode::kFileOpen, HasSubstr("manifest.json")));
}

TEST_F(LoadTest, ASpoiltManifest) {
  std::ofstream(out_ + "/manifest.json") << "{";
  EXPECT_THAT(load_export(out_), IsError(ErrorCode::kManifest, HasSubstr("manifest.json: manifest: not JSON")));
}

TEST_F(LoadTest, AMissingOrResizedText) {
  const std::string text = out_ + "/" + manifest_.texts[2].file;
  std::filesystem::resize_file(text, 3);
  EXPECT_THAT(load_export(out_), IsError(ErrorCode::kManifest, HasSubstr("3 bytes, the manifest says")));
  std::filesystem::remove(text);
  EXPECT_THAT(load_export(out_), IsError(ErrorCode::kManifest, HasSubstr(manifest_.texts[2].file)));
}

TEST_F(LoadTest, AChangedTextIsFoundWhenRead) {
  const ManifestText& text = manifest_.texts[0];
  ASSERT_OK_AND_ASSIGN(const LoadedExport loaded, load_export(out_));
  EXPECT_EQ(read_text(loaded, text), "module.hir of one\n");
  std::ofstream(out_ + "/" + text.file) << "module.hir of two\n";
  ASSERT_OK(load_export(out_));
  EXPECT_THAT(read_text(loaded, text), IsError(ErrorCode::kManifest, HasSubstr("not what the manifest says")));
}

TEST_F(LoadTest, AMissingOrResizedArchive) {
  std::filesystem::resize_file(archive_, 100);
  EXPECT_THAT(load_export(out_), IsError(ErrorCode::kArchive, HasSubstr("100 bytes, the manifest says")));
  std::filesystem::remove(archive_);
  EXPECT_THAT(load_export(out_), IsError(ErrorCode::kArchive, HasSubstr("cannot be opened")));
}

// H15
TEST_F(LoadTest, AnArchiveWhoseHeaderDisagrees) {
  const std::string good = file_bytes(archive_);
  change_header("\"F32\"", "\"I32\"");
  EXPECT_THAT(load_export(out_), IsError(ErrorCode::kArchive, HasSubstr("not as the manifest says")));
  std::ofstream(archive_, std::ios::binary) << good;
  change_header("output_norm.weight", "output_norm.weighs");
  EXPECT_THAT(load_export(out_), IsError(ErrorCode::kArchive, HasSubstr("holds no parameter 'output_norm.weight'")));
  std::ofstream(archive_, std::ios::binary) << good;
  ASSERT_OK(load_export(out_));
}

TEST_F(LoadTest, AnArchiveWithMoreThanTheManifestKnows) {
  Json json = Json::parse(file_bytes(out_ + "/manifest.json"));
  json["parameters"].erase(0);
  std::ofstream(out_ + "/manifest.json") << json.dump();
  EXPECT_THAT(load_export(out_), IsError(ErrorCode::kArchive, HasSubstr("entries, the manifest knows")));
}

TEST_F(LoadTest, AHostileHeader) {
  std::string bytes = file_bytes(archive_);
  for (const uint64_t length : {uint64_t{0}, UINT64_MAX, uint64_t{bytes.size()}, uint64_t{1} << 40}) {
    std::memcpy(bytes.data(), &length, sizeof(length));
    std::ofstream(archive_, std::ios::binary) << bytes;
    EXPECT_THAT(load_export(out_), IsError(ErrorCode::kArchive, HasSubstr(""))) << length;
  }
}

TEST_F(LoadTest, AnUnknownArchiveFormat) {
  Json json = Json::parse(file_bytes(out_ + "/manifest.json"));
  json["archives"][0]["format"] = "zip";
  std::ofstream(out_ + "/manifest.json") << json.dump();
  EXPECT_THAT(load_export(out_), IsError(ErrorCode::kArchive, HasSubstr("format 'zip' cannot be read")));
}

}  // namespace
}  // namespace headrace
