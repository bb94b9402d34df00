#include "weights/executor.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "base/testing.h"
#include "formats/gguf_testing.h"
#include "quant/block_type.h"
#include "weights/chunks.h"
#include "weights/hash.h"
#include "weights/weights_testing.h"

namespace headrace {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the kit
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint32_t kQ4_1Id = 3;
constexpr uint32_t kQ8_0Id = 8;

// Block bytes without NaN or infinite scales: the first bytes of a block are f16 scales.
std::string blocks(size_t count, size_t block_bytes, uint32_t seed) {
  std::string bytes(count * block_bytes, '\0');
  uint32_t x = seed;
  for (size_t i = 0; i < bytes.size(); ++i) {
    x = x * 1664525U + 1013904223U;
    const size_t at = i % block_bytes;
    bytes[i] = static_cast<char>((x >> 24) & (at < 4 ? 0x3FU : 0xFFU));
  }
  return bytes;
}

// An F32, a Q4_1 that needs many chunks (4 MiB decoded), a Q8_0 and a single value.
GgufSpec mixed_spec() {
  GgufSpec spec;
  spec.kvs = {kv_string("general.architecture", "llama")};
  std::vector<float> values(96);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i) - 40.5F;
  spec.tensors = {{.name = "norm", .ne = {96}, .type = 0, .bytes = f32_bytes(values)},
                  {.name = "big", .ne = {1024, 1024}, .type = kQ4_1Id, .bytes = blocks(1024 * 32, 20, 1)},
                  {.name = "head", .ne = {64, 33}, .type = kQ8_0Id, .bytes = blocks(33 * 2, 34, 2)},
                  {.name = "one", .ne = {1}, .type = 0, .bytes = f32_bytes({7.F})}};
  return spec;
}

class ExecutorTest : public ::testing::Test {
 protected:
  void SetUp() override {
    path_ = dir_.write("model.gguf", build_gguf(mixed_spec()));
    // Old enough that a change now cannot fall into the same tick of the file system's clock.
    std::filesystem::last_write_time(path_, std::filesystem::file_time_type::clock::now() - std::chrono::hours(1));
    Warnings warnings;
    auto opened = open_checkpoint(path_, warnings);
    ASSERT_OK(opened);
    checkpoint_ = *std::move(opened);
    module_ = decoded_module(checkpoint_);
  }

  [[nodiscard]] std::string decoded(const std::string& tensor) const {
    const TensorEntry& entry = *checkpoint_.find(tensor);
    const std::string raw = file_bytes(path_).substr(entry.offset_bytes, entry.length_bytes);
    const auto& row = info(entry.type);
    std::vector<float> out(raw.size() / static_cast<size_t>(row.block_bytes) * static_cast<size_t>(row.block_elements));
    decode_f32(entry.type, std::as_bytes(std::span(raw)), out);
    return f32_bytes(out);
  }

  TempDir dir_;
  std::string path_;
  Checkpoint checkpoint_;
  Module module_;
};

TEST_F(ExecutorTest, WritesEveryParameterWhereThePlanSays) {
  ASSERT_OK_AND_ASSIGN(const Written written, write_and_read(module_, checkpoint_.files));
  EXPECT_EQ(written.bytes.size(), written.plan.total_bytes);
  EXPECT_TRUE(written.bytes.starts_with(written.plan.header_bytes));
  for (size_t i = 0; i < written.plan.outputs.size(); ++i) {
    const std::string& name = written.plan.outputs[i].parameter;
    EXPECT_EQ(written.parameter(name), decoded(name)) << name;
    EXPECT_EQ(written.result.xxh3[i], hash_hex(decoded(name))) << name;
  }
  EXPECT_THAT(written.warnings, IsEmpty());
}

TEST_F(ExecutorTest, BytesAndHashesDoNotDependOnThreadsOrMemory) {
  ASSERT_OK_AND_ASSIGN(const Written first, write_and_read(module_, checkpoint_.files, {.jobs = 1}));
  for (const int jobs : {1, 2, 3, 8}) {
    for (const uint64_t memory : {uint64_t{1000}, uint64_t{100'000}, uint64_t{1} << 20, uint64_t{1} << 40}) {
      ASSERT_OK_AND_ASSIGN(const Written again,
                           write_and_read(module_, checkpoint_.files, {.max_memory_bytes = memory, .jobs = jobs}));
      ASSERT_EQ(again.bytes, first.bytes) << jobs << " jobs, " << memory << " bytes";
      ASSERT_EQ(again.result.xxh3, first.result.xxh3);
      ASSERT_EQ(again.result.content, first.result.content);
    }
  }
}

TEST_F(ExecutorTest, HashingAloneYieldsWhatWritingDoes) {
  ASSERT_OK_AND_ASSIGN(const Written written, write_and_read(module_, checkpoint_.files));
  Warnings warnings;
  uint64_t seen = 0;
  const auto progress = [&](uint64_t done, uint64_t) { seen = done; };
  ASSERT_OK_AND_ASSIGN(const WrittenArchive hashed, hash_archive(written.plan, module_, checkpoint_.files,
                                                                 {.jobs = 2, .progress = progress}, warnings));
  EXPECT_EQ(hashed.xxh3, written.result.xxh3);
  EXPECT_EQ(hashed.content, written.result.content);
  EXPECT_EQ(seen, written.plan.total_bytes);
  std::filesystem::resize_file(path_, 100);
  EXPECT_THAT(hash_archive(written.plan, module_, checkpoint_.files, {}, warnings),
              IsError(ErrorCode::kFileRead, HasSubstr("model.gguf")));
}

// H04
TEST_F(ExecutorTest, BuffersStayWithinTheMemoryAllowed) {
  ASSERT_OK_AND_ASSIGN(const auto plans, plan_archives(module_, {}));
  const ArchivePlan& plan = plans[0];
  for (const int jobs : {1, 2, 64, 1000}) {
    for (uint64_t memory = 400; memory < (uint64_t{1} << 36); memory *= 3) {
      ASSERT_OK_AND_ASSIGN(const auto chunks, executor_detail::cut(plan, module_, step_table(), memory, jobs));
      EXPECT_LE(chunks.tokens * chunks.chunk_bytes, std::min(memory, kMaxBufferBytes));
      EXPECT_GE(chunks.tokens, 1U);
    }
  }
}

TEST_F(ExecutorTest, TooLittleMemoryIsAnErrorThatNamesTheLeast) {
  const auto result = write_and_read(module_, checkpoint_.files, {.max_memory_bytes = 200});
  // A block of Q8_0, 34 bytes, and its 128 of f32, each with 64 bytes for alignment.
  EXPECT_THAT(result, IsError(ErrorCode::kMemoryLimit, HasSubstr("needs 290 bytes of memory to be converted, 200")));
  EXPECT_OK(write_and_read(module_, checkpoint_.files, {.max_memory_bytes = 290}));
}

TEST_F(ExecutorTest, OneReadCanHaveTwoOutputs) {
  Module module;
  add_parameter(module,
                {.sources = {source_of(checkpoint_, "big")},
                 .steps = {StepKind::kDecode, kInt8Rows},
                 .outputs = {{"big", Type{DType::kI8, {1024, 1024}}}, {"big.scale", Type{DType::kF32, {1024}}}}});
  const auto steps = steps_with_tests_own();
  std::optional<Written> first;
  for (const uint64_t memory : {uint64_t{20'000}, uint64_t{1} << 20, uint64_t{1} << 30}) {
    ASSERT_OK_AND_ASSIGN(Written written, write_and_read(module, checkpoint_.files,
                                                         {.max_memory_bytes = memory, .jobs = 2, .steps = steps}));
    const std::string f32 = decoded("big");
    const std::string codes = written.parameter("big");
    const std::string scales = written.parameter("big.scale");
    for (size_t i = 0; i < codes.size(); i += 1023) {
      float x = 0;
      float scale = 0;
      std::memcpy(&x, f32.data() + i * 4, 4);
      std::memcpy(&scale, scales.data() + i / 1024 * 4, 4);
      ASSERT_NEAR(static_cast<float>(static_cast<int8_t>(codes[i])) * scale, x, scale * 0.51F) << i;
    }
    if (first) {
      EXPECT_EQ(first->bytes, written.bytes);
    }
    first = std::move(written);
  }
}

TEST_F(ExecutorTest, ARecipeNeedsNoSource) {
  Module module;
  add_parameter(module, {.sources = {}, .steps = {kCounting}, .outputs = {{"count", Type{DType::kF32, {300, 1000}}}}});
  const auto steps = steps_with_tests_own();
  ASSERT_OK_AND_ASSIGN(const Written written,
                       write_and_read(module, {}, {.max_memory_bytes = 100'000, .jobs = 2, .steps = steps}));
  std::vector<float> wanted(300'000);
  for (size_t i = 0; i < wanted.size(); ++i) wanted[i] = static_cast<float>(i);
  EXPECT_EQ(written.parameter("count"), f32_bytes(wanted));
}

TEST_F(ExecutorTest, SourcesOfOneRecipeFollowEachOther) {
  Module module;
  add_parameter(module, {.sources = {source_of(checkpoint_, "head"), source_of(checkpoint_, "norm")},
                         .steps = {StepKind::kDecode},
                         .outputs = {{"both", Type{DType::kF32, {33 * 64 + 96}}}}});
  ASSERT_OK_AND_ASSIGN(const Written written, write_and_read(module, checkpoint_.files, {.max_memory_bytes = 500}));
  EXPECT_EQ(written.parameter("both"), decoded("head") + decoded("norm"));
}

TEST_F(ExecutorTest, CopyKeepsTheBytes) {
  Module module;
  add_parameter(module, {.sources = {source_of(checkpoint_, "head")},
                         .steps = {StepKind::kCopy},
                         .outputs = {{"head", Type{DType::kI8, {33, 2, 34}}}}});
  ASSERT_OK_AND_ASSIGN(const Written written, write_and_read(module, checkpoint_.files));
  EXPECT_EQ(written.parameter("head"), blocks(33 * 2, 34, 2));
}

TEST_F(ExecutorTest, EmptyParametersAndModules) {
  Module module;
  ASSERT_OK_AND_ASSIGN(const Written nothing, write_and_read(module, checkpoint_.files));
  EXPECT_EQ(nothing.bytes, nothing.plan.header_bytes);
  SourceRange none = source_of(checkpoint_, "norm");
  none.length_bytes = 0;
  add_parameter(module, {.sources = {none}, .steps = {StepKind::kCopy}, .outputs = {{"e", Type{DType::kF32, {0, 4}}}}});
  ASSERT_OK_AND_ASSIGN(const Written empty, write_and_read(module, checkpoint_.files));
  EXPECT_EQ(empty.result.xxh3[0], hash_hex(""));
}

TEST_F(ExecutorTest, RecipesThatDoNotAddUpAreRefused) {
  Module module;
  add_parameter(module, {.sources = {source_of(checkpoint_, "norm")},
                         .steps = {StepKind::kDecode},
                         .outputs = {{"norm", Type{DType::kF32, {97}}}}});
  EXPECT_THAT(write_and_read(module, checkpoint_.files),
              IsError(ErrorCode::kPass, HasSubstr("'norm' has 388 bytes, its recipe makes 384")));
  module.recipes[0].steps = {};
  EXPECT_THAT(write_and_read(module, checkpoint_.files), IsError(ErrorCode::kPass, HasSubstr("without steps")));
  module.recipes[0].steps = {kInt8Rows};
  EXPECT_THAT(write_and_read(module, checkpoint_.files), IsError(ErrorCode::kPass, HasSubstr("no implementation")));
  module.recipes[0].steps = {StepKind::kCopy};
  module.recipes[0].sources = {};
  EXPECT_THAT(write_and_read(module, checkpoint_.files), IsError(ErrorCode::kPass, HasSubstr("needs a source")));
  module.parameters[0].type.dtype = DType::kI32;
  EXPECT_THAT(write_and_read(module, checkpoint_.files),
              IsError(ErrorCode::kPass, HasSubstr("parameter 'norm' is i32")));
}

// E07
TEST_F(ExecutorTest, NonFiniteValuesAreKeptAndCounted) {
  GgufSpec spec = mixed_spec();
  std::vector<float> values(96, 1.F);
  values[5] = std::numeric_limits<float>::quiet_NaN();
  values[95] = -std::numeric_limits<float>::infinity();
  spec.tensors[0].bytes = f32_bytes(values);
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint,
                       open_checkpoint(dir_.write("nan.gguf", build_gguf(spec)), warnings));
  ASSERT_OK_AND_ASSIGN(const Written written, write_and_read(decoded_module(checkpoint), checkpoint.files));
  EXPECT_THAT(written.warnings, ElementsAre("parameter 'norm': 2 values are NaN or infinite; they are kept"));
  EXPECT_EQ(written.parameter("norm"), f32_bytes(values));
}

// Runs with a small memory, so that there are many chunks, and does `change` before the third is read.
template <class F>
ExecutorOptions at_third_chunk(F change) {
  auto count = std::make_shared<int>(0);
  return {.max_memory_bytes = 200'000, .jobs = 2, .before_read = [count, change] {
            if (++*count == 3) change();
          }};
}

TEST_F(ExecutorTest, ASourceCutShortWhileReadIsAnError) {
  const auto options = at_third_chunk([&] { std::filesystem::resize_file(path_, 5000); });
  const auto result = write_and_read(module_, checkpoint_.files, options);
  EXPECT_THAT(result, IsError(ErrorCode::kFileRead, HasSubstr("tensor 'big': ")));
  EXPECT_THAT(result, IsError(ErrorCode::kFileRead, HasSubstr(path_)));
}

TEST_F(ExecutorTest, ASourceReplacedWhileReadIsAnError) {
  const std::string other = dir_.write("other.gguf", file_bytes(path_));
  const auto options = at_third_chunk([&] { std::filesystem::rename(other, path_); });
  EXPECT_THAT(write_and_read(module_, checkpoint_.files, options), IsError(ErrorCode::kFileRead, HasSubstr(path_)));
}

TEST_F(ExecutorTest, ASourceWrittenToWhileReadIsAnError) {
  const auto options = at_third_chunk([&] {
    std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-4, std::ios::end);
    file.write("abcd", 4);
  });
  EXPECT_THAT(write_and_read(module_, checkpoint_.files, options), IsError(ErrorCode::kFileRead, HasSubstr(path_)));
}

TEST_F(ExecutorTest, ASourceChangedBeforeIsAnError) {
  static_cast<void>(dir_.write("model.gguf", build_gguf(mixed_spec()) + "tail"));
  EXPECT_THAT(write_and_read(module_, checkpoint_.files), IsError(ErrorCode::kFileRead, HasSubstr(path_)));
  std::filesystem::remove(path_);
  EXPECT_THAT(write_and_read(module_, checkpoint_.files), IsError(ErrorCode::kFileOpen, HasSubstr(path_)));
}

TEST_F(ExecutorTest, StopsWhenAsked) {
  std::atomic<bool> stop = false;
  ExecutorOptions options = at_third_chunk([&] { stop = true; });
  options.stop = &stop;
  EXPECT_THAT(write_and_read(module_, checkpoint_.files, options), IsError(ErrorCode::kInterrupted, "interrupted"));
}

TEST_F(ExecutorTest, AStepThatThrowsLeavesNothing) {
  std::vector<Step> steps(step_table().begin(), step_table().end());
  for (Step& step : steps)
    step.apply = [](const StepRun&, std::span<const std::byte>, std::span<const std::span<std::byte>>) {
      throw InternalError("thrown by a test");
    };
  EXPECT_THROW(static_cast<void>(write_and_read(module_, checkpoint_.files, {.jobs = 2, .steps = steps})),
               InternalError);
}

TEST_F(ExecutorTest, ProgressRisesToTheTotal) {
  std::vector<uint64_t> seen;
  uint64_t total = 0;
  ExecutorOptions options{.max_memory_bytes = 100'000, .jobs = 2};
  options.progress = [&](uint64_t written, uint64_t all) {
    seen.push_back(written);
    total = all;
  };
  ASSERT_OK_AND_ASSIGN(const Written written, write_and_read(module_, checkpoint_.files, options));
  EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
  EXPECT_EQ(total, written.plan.total_bytes);
  EXPECT_LE(seen.size(), 100U);
  EXPECT_EQ(seen.front(), written.plan.header_bytes.size());
  EXPECT_EQ(seen.back(), written.bytes.size());
}

// So that a quick disk's progress has steps too.
TEST_F(ExecutorTest, ProgressIsToldEach64MiB) {
  Module module;
  add_parameter(module,
                {.sources = {}, .steps = {kCounting}, .outputs = {{"many", Type{DType::kF32, {1 << 16, 1 << 10}}}}});
  const auto steps = steps_with_tests_own();
  ASSERT_OK_AND_ASSIGN(const std::vector<ArchivePlan> plans, plan_archives(module, {}));
  Warnings warnings;
  std::vector<uint64_t> seen;
  const auto progress = [&](uint64_t done, uint64_t) { seen.push_back(done); };
  ASSERT_OK(hash_archive(plans.front(), module, {}, {.jobs = 2, .progress = progress, .steps = steps}, warnings));
  ASSERT_GE(seen.size(), 4U);
  for (size_t i = 1; i < seen.size(); ++i) EXPECT_LE(seen[i] - seen[i - 1], (uint64_t{64} << 20) + kMaxBufferBytes);
}

TEST_F(ExecutorTest, FreeSpaceIsCheckedBeforeWriting) {
  Module module;
  const int64_t rows = int64_t{1} << 40;
  add_parameter(module, {.sources = {}, .steps = {kCounting}, .outputs = {{"huge", Type{DType::kF32, {rows, 1024}}}}});
  const auto steps = steps_with_tests_own();
  EXPECT_THAT(write_and_read(module, {}, {.steps = steps}), IsError(ErrorCode::kNoSpace, HasSubstr("bytes needed, ")));
}

// In a child process: the limit cannot be raised again.
TEST_F(ExecutorTest, AFileThatMayNotGrowIsACleanError) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit{1 << 20, 1 << 20};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const auto result = write_and_read(module_, checkpoint_.files, {.jobs = 1});
    ::_exit(!result && result.error().code == ErrorCode::kFileWrite ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace headrace
