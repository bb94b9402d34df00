#include "weights/commit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "base/testing.h"
#include "formats/gguf_testing.h"
#include "weights/load.h"
#include "weights/names.h"
#include "weights/weights_testing.h"

namespace headrace {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT(google-build-using-namespace): the kit
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class CommitTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Warnings warnings;
    auto opened = open_checkpoint(dir_.write("a.gguf", build_gguf(tiny())), warnings);
    ASSERT_OK(opened);
    checkpoint_ = *std::move(opened);
    opened = open_checkpoint(dir_.write("b.gguf", build_gguf(tiny({.seed = 2}))), warnings);
    ASSERT_OK(opened);
    other_ = *std::move(opened);
    out_ = dir_.path() + "/out";
  }
  // Runs `work` in a child process, whose exit code is 0 if it returns true.
  template <class F>
  static int in_child(F work) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(work() ? 0 : 1);
    int status = 0;
    ::waitpid(child, &status, 0);
    return status;
  }

  TempDir dir_;
  Checkpoint checkpoint_;
  Checkpoint other_;
  std::string out_;
};

TEST_F(CommitTest, LeavesTheManifestItsFilesAndPlainNames) {
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  ASSERT_OK_AND_ASSIGN(const LoadedExport loaded, load_export(out_));
  std::vector<std::string> wanted = {"iree", "xla", "manifest.json"};
  for (const auto& file : manifest_files(loaded.manifest)) wanted.push_back(file);
  for (const auto& text : loaded.manifest.texts) wanted.push_back(text.link + " -> " + std::string(leaf(text.file)));
  EXPECT_THAT(tree(out_), ::testing::UnorderedElementsAreArray(wanted));
  EXPECT_EQ(file_bytes(out_ + "/iree/model.mlir"), "iree/model.mlir of one\n");
  EXPECT_EQ(verified_tag(out_), "one");
}

TEST_F(CommitTest, TheSameExportGivesTheSameBytes) {
  ASSERT_OK(export_small(out_, checkpoint_, "one", {.jobs = 1}));
  ASSERT_OK(export_small(out_ + "2", checkpoint_, "one", {.jobs = 2}));
  EXPECT_EQ(tree(out_), tree(out_ + "2"));
  EXPECT_EQ(file_bytes(out_ + "/manifest.json"), file_bytes(out_ + "2/manifest.json"));
  const auto before = tree(out_);
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  EXPECT_EQ(tree(out_), before);
}

TEST_F(CommitTest, ANewExportReplacesTheOldOneWhole) {
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  ASSERT_OK_AND_ASSIGN(const LoadedExport old, load_export(out_));
  std::ofstream(out_ + "/" + old.manifest.texts[1].file.substr(0, 27) + ".vmfb") << "compiled by the user";
  std::ofstream(out_ + "/iree/model.vmfb") << "compiled by the user";
  ASSERT_OK(export_small(out_, other_, "two"));
  EXPECT_EQ(verified_tag(out_), "two");
  EXPECT_EQ(file_bytes(out_ + "/module.hir"), "module.hir of two\n");
  EXPECT_EQ(tree(out_).size(), 3U + 4U + 3U);
  for (const auto& file : manifest_files(old.manifest)) EXPECT_FALSE(fs::exists(out_ + "/" + file)) << file;
}

TEST_F(CommitTest, WhatWasCompiledFromAFileStaysAsLongAsTheFile) {
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  ASSERT_OK_AND_ASSIGN(const LoadedExport loaded, load_export(out_));
  const std::string mlir = out_ + "/" + loaded.manifest.texts[1].file;
  const std::string vmfb = mlir.substr(0, mlir.size() - 5) + ".vmfb";
  std::ofstream(vmfb) << "compiled by the user";
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  EXPECT_TRUE(fs::exists(vmfb));
  ASSERT_OK(export_small(out_, checkpoint_, "two"));
  EXPECT_FALSE(fs::exists(vmfb));
}

TEST_F(CommitTest, TwoExportsOfOneModelShareTheArchive) {
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  ASSERT_OK_AND_ASSIGN(const LoadedExport one, load_export(out_));
  ASSERT_OK(export_small(out_, checkpoint_, "two"));
  ASSERT_OK_AND_ASSIGN(const LoadedExport two, load_export(out_));
  EXPECT_EQ(one.manifest.archives, two.manifest.archives);
}

TEST_F(CommitTest, WithoutACommitTheDirectoryIsAsItWas) {
  {
    ASSERT_OK_AND_ASSIGN(ExportDirectory out, ExportDirectory::open(out_ + "/deep/er"));
    ASSERT_OK(out.add_text("iree/model.mlir", "x"));
    ASSERT_OK(out.new_archive());
  }
  EXPECT_FALSE(fs::exists(out_));

  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  const auto before = tree(out_);
  {
    ASSERT_OK_AND_ASSIGN(ExportDirectory out, ExportDirectory::open(out_));
    ASSERT_OK(out.add_text("iree/model.mlir", "x"));
    ASSERT_OK(out.add_text("iree/model.mlir", "iree/model.mlir of one\n"));  // which is there already
  }
  EXPECT_EQ(tree(out_), before);
}

TEST_F(CommitTest, AStoppedExportLeavesTheOldOne) {
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  const auto before = tree(out_);
  std::atomic<bool> stop = true;
  EXPECT_THAT(export_small(out_, other_, "two", {.stop = &stop}), IsError(ErrorCode::kInterrupted, "interrupted"));
  EXPECT_EQ(tree(out_), before);
  EXPECT_EQ(verified_tag(out_), "one");
}

TEST_F(CommitTest, OnlyNamesOfAnExportCanBeAdded) {
  ASSERT_OK_AND_ASSIGN(ExportDirectory out, ExportDirectory::open(out_));
  for (const char* name : {"", "x.txt", "../module.hir", "xla/a/b.mlir", "xla/.mlir", "xla/.x.mlir", "iree/other.mlir",
                           "manifest.json", "weights.safetensors", "/module.hir"})
    EXPECT_THAT(out.add_text(name, "x"), IsError(ErrorCode::kManifest, HasSubstr("not a name"))) << name;
  EXPECT_OK(out.add_text("xla/decode.past_16.mlir", "x"));
  EXPECT_OK(out.add_text("vocabulary.json", "x"));
}

TEST_F(CommitTest, TheManifestMustNameWhatWasWritten) {
  ASSERT_OK_AND_ASSIGN(ExportDirectory out, ExportDirectory::open(out_));
  Manifest manifest;
  manifest.source.header_xxh3 = std::string(32, 'a');
  manifest.module_file = "module-0123456789abcdef.hir";
  manifest.texts = {{manifest.module_file, "module.hir", 1, std::string(32, 'a')}};
  Warnings warnings;
  EXPECT_THAT(out.commit(manifest, warnings), IsError(ErrorCode::kManifest, HasSubstr("which was not written")));
}

TEST_F(CommitTest, ForeignFilesAreNamedAndKept) {
  struct Case {
    const char* path;
    const char* content;
  };
  for (const Case& c : {Case{"notes.txt", ""}, Case{"iree/notes.txt", ""}, Case{"xla/a.b", ""}, Case{".hidden", ""},
                        Case{"module-0123.hir", ""}, Case{"weights.safetensors", ""}, Case{"manifest.json", "{}"},
                        Case{"manifest.json", "{\"format\": \"chrome\"}"}, Case{"manifest.json", ""}}) {
    const TempDir dir;
    fs::create_directories(fs::path(dir.path() + "/" + c.path).parent_path());
    std::ofstream(dir.path() + "/" + c.path) << c.content;
    const auto before = tree(dir.path());
    EXPECT_THAT(export_small(dir.path(), checkpoint_, "one"),
                IsError(ErrorCode::kForeignFiles, HasSubstr(std::string("holds '") + c.path)));
    EXPECT_EQ(tree(dir.path()), before);
  }
  fs::create_directories(out_ + "/module.hir");
  EXPECT_THAT(export_small(out_, checkpoint_, "one"), IsError(ErrorCode::kForeignFiles, HasSubstr("'module.hir'")));
  const TempDir elsewhere;
  fs::remove_all(out_);
  fs::create_directory(out_);
  fs::create_symlink(elsewhere.path(), out_ + "/iree");
  EXPECT_THAT(export_small(out_, checkpoint_, "one"), IsError(ErrorCode::kForeignFiles, HasSubstr("'iree'")));
}

TEST_F(CommitTest, LeftoversOfDeadExportersAreRemoved) {
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  const auto before = tree(out_);
  for (const char* name : {".headrace-lock", ".headrace-tmp-weights", "module-0123456789abcdef.hir",
                           "weights-0123456789abcdef.safetensors", "xla/prefill-0123456789abcdef.mlir"})
    std::ofstream(out_ + "/" + name) << "x";
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  EXPECT_EQ(tree(out_), before);
}

TEST_F(CommitTest, PlainNamesAreRestored) {
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  const auto before = tree(out_);
  fs::remove(out_ + "/module.hir");
  fs::remove(out_ + "/iree/model.mlir");
  std::ofstream(out_ + "/iree/model.mlir") << "a copy made without links";
  static_cast<void>(ExportDirectory::open(out_));
  EXPECT_EQ(tree(out_), before);
}

TEST_F(CommitTest, TwoExportersAtOnceAreRefused) {
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  ASSERT_OK_AND_ASSIGN(const ExportDirectory first, ExportDirectory::open(out_));
  EXPECT_THAT(export_small(out_, checkpoint_, "two"), IsError(ErrorCode::kBusy, HasSubstr("another process")));
  EXPECT_EQ(verified_tag(out_), "one");
}

TEST_F(CommitTest, ExportersThatRaceLeaveOneOfTheirExports) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    for (int round = 0; round < 5; ++round) {
      const auto status =
          export_small(out_, i % 2 == 0 ? checkpoint_ : other_, "from " + std::to_string(i), {.jobs = 1});
      if (!status && status.error().code != ErrorCode::kBusy) ::_exit(1);
    }
    ::_exit(0);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  ASSERT_OK_AND_ASSIGN(const std::string tag, verified_tag(out_));
  EXPECT_THAT(tag, HasSubstr("from "));
}

TEST_F(CommitTest, WhatIsNoDirectoryIsRefused) {
  EXPECT_THAT(export_small(checkpoint_.files[0].path, checkpoint_, "one"),
              IsError(ErrorCode::kFileOpen, HasSubstr("not a directory")));
  EXPECT_THAT(export_small(checkpoint_.files[0].path + "/x", checkpoint_, "one"),
              IsError(ErrorCode::kFileWrite, HasSubstr("cannot be created")));
  EXPECT_THAT(export_small("", checkpoint_, "one"), IsError(ErrorCode::kFileOpen, HasSubstr("empty")));
  fs::create_symlink(dir_.path() + "/nowhere", out_);
  EXPECT_THAT(export_small(out_, checkpoint_, "one"), IsError(ErrorCode::kFileOpen, HasSubstr("cannot be opened")));
}

TEST_F(CommitTest, ALinkToADirectoryIsFollowed) {
  fs::create_directory(dir_.path() + "/real");
  fs::create_symlink("real", out_);
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  EXPECT_EQ(verified_tag(dir_.path() + "/real"), "one");
}

TEST_F(CommitTest, AReadOnlyDirectoryIsAnError) {
  fs::create_directory(out_);
  ::chmod(dir_.path().c_str(), 0755);
  ::chmod(out_.c_str(), 0555);
  const int status = in_child([&] {
    if (::geteuid() == 0 && ::seteuid(65534) != 0) return false;  // permissions do not bind root
    const auto result = export_small(out_, checkpoint_, "one", {.jobs = 1});
    return !result && result.error().code == ErrorCode::kFileWrite;
  });
  EXPECT_EQ(status, 0);
  EXPECT_THAT(tree(out_), IsEmpty());
}

TEST_F(CommitTest, ATextThatCannotBeWrittenLeavesTheOldExport) {
  ASSERT_OK(export_small(out_, checkpoint_, "one"));
  const auto before = tree(out_);
  const int status = in_child([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    auto out = ExportDirectory::open(out_);
    return out && !out->add_text("module.hir", std::string(10'000, 'x'));
  });
  EXPECT_EQ(status, 0);
  EXPECT_EQ(tree(out_), before);
}

// The promise of docs/adr/0001-commit.md: dead at any moment, the directory holds the old export or the new one.
TEST_F(CommitTest, KilledAtAnyMomentLeavesTheOldExportOrTheNewOne) {
  ASSERT_OK(export_small(out_, checkpoint_, "0"));
  const auto begin = std::chrono::steady_clock::now();
  ASSERT_OK(export_small(out_, other_, "0"));
  const auto whole = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> moment(0, whole.count() + whole.count() / 4);
  std::string last = "0";
  int kept = 0;
  for (int i = 1; i <= 40; ++i) {
    const std::string tag = std::to_string(i);
    const pid_t child = ::fork();
    if (child == 0) {
      const auto status = export_small(out_, i % 2 == 0 ? other_ : checkpoint_, tag, {.jobs = 1});
      ::_exit(status ? 0 : 1);
    }
    ::usleep(static_cast<useconds_t>(moment(random)));
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    ASSERT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) != 0) << "the export itself failed";
    ASSERT_OK_AND_ASSIGN(const std::string now, verified_tag(out_));
    ASSERT_TRUE(now == last || now == tag) << now;
    // A plain name that is there is the current export's.
    for (const char* plain : {"module.hir", "iree/model.mlir", "xla/score.mlir"})
      if (fs::exists(out_ + "/" + plain)) {
        ASSERT_EQ(file_bytes(out_ + "/" + plain), std::string(plain) + " of " + now + "\n");
      }
    kept += now == last ? 1 : 0;
    last = now;
  }
  RecordProperty("kept", kept);
  ASSERT_OK(export_small(out_, checkpoint_, "end"));
  EXPECT_EQ(verified_tag(out_), "end");
  EXPECT_EQ(tree(out_).size(), 3U + 4U + 3U) << "nothing of the dead is left";
}

}  // namespace
}  // namespace headrace
