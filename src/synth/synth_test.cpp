#include "synth/synth.h"

#include <sys/stat.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>

#include "base/testing.h"
#include "exporter/export.h"
#include "exporter/exporter_testing.h"
#include "exporter/inspect_tensor.h"
#include "formats/gguf_testing.h"
#include "models/model.h"

namespace headrace {
namespace {

using ::testing::HasSubstr;
using testing::IsError;

SynthShape preset(std::string_view name) {
  for (const SynthShape& shape : synth_presets())
    if (shape.preset == name) return shape;
  throw std::out_of_range(std::string(name));
}

class SynthTest : public ::testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return dir_.path() + "/" + name; }
  [[nodiscard]] std::string bytes(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  testing::TempDir dir_;
};

// Every preset as holes: indexed, linked and traced as a real one would be, with memory and disk for the headers alone.
void expect_a_checkpoint(const SynthOptions& options, const std::string& path) {
  ASSERT_OK_AND_ASSIGN(const SynthReport report, write_synth(options, path, {}));
  uint64_t total_bytes = 0;
  for (const std::string& file : report.files) {
    struct stat on_disk = {};
    ASSERT_EQ(::stat(file.c_str(), &on_disk), 0);
    total_bytes += static_cast<uint64_t>(on_disk.st_size);
    EXPECT_LT(static_cast<uint64_t>(on_disk.st_blocks) * 512, uint64_t{4} << 20);
  }
  EXPECT_EQ(total_bytes, report.total_bytes);
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_checkpoint(path, warnings));
  ASSERT_OK_AND_ASSIGN(const auto model, make_model(checkpoint, {}, warnings));
  EXPECT_EQ(model->architecture(), options.shape.architecture);
  ASSERT_OK(trace_model(*model, checkpoint, 16, warnings));
  EXPECT_EQ(checkpoint.tensors.size(), report.tensors);
  // A config.json says everything; of a GGUF no key is assumed either.
  EXPECT_THAT(warnings.lines, ::testing::IsEmpty());
}

TEST_F(SynthTest, EveryPresetIsACheckpointThatAnExportAccepts) {
  for (const SynthShape& shape : synth_presets()) {
    SCOPED_TRACE(shape.preset);
    expect_a_checkpoint({.shape = shape}, path("m.gguf"));
    expect_a_checkpoint({.shape = shape, .format = SynthFormat::kSafetensors}, path(std::string(shape.preset)));
  }
}

SynthShape tiny(SynthShape shape) {
  shape.layers = 7;
  shape.width = 32;
  shape.hidden = 64;
  shape.heads = 4;
  shape.kv_heads = 2;
  shape.head_width = 16;
  shape.vocabulary = 512;
  shape.context = 64;
  shape.window = shape.window == 0 ? 0 : 5;
  return shape;
}

// The containers keep rows of q and k, and Gemma's norms, in their own ways: equal logits say that the weights are
// drawn for both from one source, and that each container's way is kept to.
TEST_F(SynthTest, OneSeedIsOneModelInBothFormats) {
  for (const SynthShape& shape : synth_presets()) {
    SCOPED_TRACE(shape.preset);
    SynthOptions options{.shape = tiny(shape), .types = "F32", .fill = SynthFill::kRandom};
    ASSERT_OK(write_synth(options, path("m.gguf"), {}));
    options.format = SynthFormat::kSafetensors;
    options.split_bytes = 20'000;
    const std::string directory = path(std::string(shape.preset));
    ASSERT_OK(write_synth(options, directory, {}));
    Warnings warnings;
    ASSERT_OK_AND_ASSIGN(const Checkpoint gguf, open_checkpoint(path("m.gguf"), warnings));
    ASSERT_OK_AND_ASSIGN(const Checkpoint hf, open_checkpoint(directory, warnings));
    EXPECT_GT(hf.files.size(), 3U);
    ASSERT_OK_AND_ASSIGN(const auto a, testing::logits_of(gguf));
    ASSERT_OK_AND_ASSIGN(const auto b, testing::logits_of(hf));
    const double apart = testing::distance(a, b);
    std::cout << fmt::format("{}: {:.1e}\n", shape.preset, apart);
    EXPECT_LE(apart, 1e-6);
  }
}

// Counts of parameters that the models' authors state.
TEST(Synth, SizesAreThoseOfTheModels) {
  for (const SynthFormat format : {SynthFormat::kGguf, SynthFormat::kSafetensors}) {
    const auto parameters = [&](std::string_view name) {
      uint64_t sum = 0;
      const auto planned = plan_synth({.shape = preset(name), .format = format});
      for (const SynthFile& file : planned.value())
        for (const SynthTensor& t : file.tensors) {
          uint64_t elements = 1;
          for (const int64_t size : t.shape) elements *= static_cast<uint64_t>(size);
          sum += elements;
        }
      return static_cast<double>(sum);
    };
    EXPECT_NEAR(parameters("smollm2-135m"), 134.515008e6, 1);
    EXPECT_NEAR(parameters("llama-3-8b"), 8.030261248e9, 1);
    EXPECT_NEAR(parameters("llama-3-70b"), 70.553706496e9, 1);
    EXPECT_NEAR(parameters("llama-3-405b"), 405.853388800e9, 1);
    EXPECT_NEAR(parameters("mistral-nemo-12b"), 12.247782400e9, 1);
    EXPECT_NEAR(parameters("gemma-3-270m"), 268.098176e6, 1);
    EXPECT_NEAR(parameters("qwen2.5-7b"), 7.615616512e9, 1);
    EXPECT_NEAR(parameters("qwen3-8b"), 8.190735360e9, 1);
  }
}

TEST_F(SynthTest, RandomWeightsAreFiniteAndOfAModelsSizeInEveryType) {
  for (const std::string_view types : synth_types(SynthFormat::kGguf)) {
    SCOPED_TRACE(types);
    const SynthOptions options{.shape = preset("llama-tiny"), .types = std::string(types), .fill = SynthFill::kRandom};
    ASSERT_OK(write_synth(options, path("m.gguf"), {}));
    Warnings warnings;
    ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_checkpoint(path("m.gguf"), warnings));
    for (const TensorEntry& t : checkpoint.tensors) {
      ASSERT_OK_AND_ASSIGN(const TensorStatistics s, tensor_statistics(checkpoint, t.name));
      EXPECT_EQ(s.nans + s.infinities, 0U) << t.name;
      const bool is_norm = t.shape.size() == 1;
      EXPECT_NEAR(s.mean, is_norm ? 1 : 0, is_norm ? 0.05 : 0.003) << t.name;
      EXPECT_GT(s.rms, 0.004) << t.name;
      EXPECT_LT(s.rms, is_norm ? 1.1 : 0.08) << t.name;
    }
  }
}

TEST_F(SynthTest, TheSameSeedGivesTheSameBytesAndAnotherDoesNot) {
  SynthOptions options{.shape = preset("llama-tiny"), .types = "Q4_K", .fill = SynthFill::kRandom};
  ASSERT_OK(write_synth(options, path("a.gguf"), {}));
  ASSERT_OK(write_synth(options, path("b.gguf"), {}));
  options.seed = 2;
  ASSERT_OK(write_synth(options, path("c.gguf"), {}));
  EXPECT_EQ(bytes("a.gguf"), bytes("b.gguf"));
  EXPECT_EQ(bytes("a.gguf").size(), bytes("c.gguf").size());
  EXPECT_NE(bytes("a.gguf"), bytes("c.gguf"));
}

void expect_one_however_cut(const SynthTensor& tensor) {
  const SynthOptions options{.shape = preset("llama-tiny"), .fill = SynthFill::kRandom};
  const auto block = static_cast<size_t>(info(tensor.type).block_bytes);
  std::vector<std::byte> whole(6 * block);
  synth_bytes(options, tensor, 0, whole);
  std::vector<std::byte> cut(whole.size());
  synth_bytes(options, tensor, 0, std::span(cut).first(block));
  synth_bytes(options, tensor, block, std::span(cut).subspan(block, 3 * block));
  synth_bytes(options, tensor, 4 * block, std::span(cut).subspan(4 * block));
  EXPECT_EQ(whole, cut);
}

TEST(Synth, BytesDoNotDependOnHowATensorIsCut) {
  for (const BlockType type : {BlockType::kF32, BlockType::kF16, BlockType::kBF16, BlockType::kQ4_1, BlockType::kQ6_K})
    expect_one_however_cut(
        {.name = "blk.0.attn_q.weight", .source = "blk.0.attn_q.weight", .type = type, .shape = {4, 512}});
  expect_one_however_cut({.name = "q", .source = "q", .type = BlockType::kF32, .shape = {8, 1}, .half_paired = 4});
}

TEST_F(SynthTest, SplitFilesAreOneCheckpoint) {
  SynthOptions options{.shape = preset("llama-tiny"), .types = "Q8_0", .fill = SynthFill::kRandom};
  ASSERT_OK(write_synth(options, path("whole.gguf"), {}));
  options.split_bytes = 300'000;
  ASSERT_OK_AND_ASSIGN(const SynthReport report, write_synth(options, path("cut.gguf"), {}));
  ASSERT_GT(report.files.size(), 3U);
  EXPECT_THAT(report.files[1], HasSubstr(fmt::format("cut-00002-of-{:05}.gguf", report.files.size())));
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const Checkpoint whole, open_checkpoint(path("whole.gguf"), warnings));
  ASSERT_OK_AND_ASSIGN(const Checkpoint cut, open_checkpoint(report.files[2], warnings));
  EXPECT_EQ(cut.metadata, whole.metadata);
  ASSERT_EQ(cut.tensors.size(), whole.tensors.size());
  for (const TensorEntry& t : whole.tensors) {
    ASSERT_OK_AND_ASSIGN(const TensorStatistics a, tensor_statistics(whole, t.name));
    ASSERT_OK_AND_ASSIGN(const TensorStatistics b, tensor_statistics(cut, t.name));
    EXPECT_EQ(a.mean, b.mean) << t.name;
    EXPECT_EQ(a.histogram, b.histogram) << t.name;
  }
}

TEST_F(SynthTest, ShardsAreOneCheckpoint) {
  SynthOptions options{.shape = preset("llama-tiny"), .format = SynthFormat::kSafetensors, .fill = SynthFill::kRandom};
  ASSERT_OK(write_synth(options, path("whole"), {}));
  options.split_bytes = 300'000;
  ASSERT_OK_AND_ASSIGN(const SynthReport report, write_synth(options, path("cut"), {}));
  ASSERT_GT(report.files.size(), 5U);
  EXPECT_EQ(report.files[1], path(fmt::format("cut/model-00002-of-{:05}.safetensors", report.files.size() - 2)));
  EXPECT_EQ(report.files.end()[-2], path("cut/model.safetensors.index.json"));
  EXPECT_EQ(bytes("cut/config.json"), bytes("whole/config.json"));
  const std::string all = bytes("whole/model.safetensors");
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const Checkpoint whole, open_checkpoint(path("whole"), warnings));
  ASSERT_OK_AND_ASSIGN(const Checkpoint cut, open_checkpoint(path("cut"), warnings));
  EXPECT_THAT(warnings.lines, ::testing::IsEmpty());  // of the total size, for one
  ASSERT_EQ(cut.tensors.size(), whole.tensors.size());
  for (const TensorEntry& t : cut.tensors) {
    const TensorEntry* other = whole.find(t.name);
    ASSERT_NE(other, nullptr) << t.name;
    EXPECT_EQ(t.type, BlockType::kBF16);
    ASSERT_EQ(t.length_bytes, other->length_bytes);
    const std::string shard = bytes(std::filesystem::relative(cut.files[t.file].path, dir_.path()));
    EXPECT_EQ(shard.substr(t.offset_bytes, t.length_bytes), all.substr(other->offset_bytes, t.length_bytes)) << t.name;
  }
}

TEST_F(SynthTest, RefusesWhatMakesNoCheckpointAndLeavesNothing) {
  SynthShape odd = preset("llama-tiny");
  odd.heads = 3;
  EXPECT_THAT(write_synth({.shape = odd}, path("m.gguf"), {}),
              IsError(ErrorCode::kConfigValue, HasSubstr("3 query heads")));
  SynthShape negative = preset("llama-tiny");
  negative.layers = -1;
  EXPECT_THAT(plan_synth({.shape = negative}), IsError(ErrorCode::kOptions, HasSubstr("layers is -1")));
  EXPECT_THAT(plan_synth({.shape = preset("llama-tiny"), .types = "Q9"}),
              IsError(ErrorCode::kOptions, HasSubstr("'Q9'")));
  EXPECT_THAT(write_synth({.shape = preset("llama-tiny")}, path("m.bin"), {}),
              IsError(ErrorCode::kOptions, HasSubstr(".gguf")));
  EXPECT_THAT(write_synth({.shape = preset("llama-tiny")}, path("none/m.gguf"), {}),
              IsError(ErrorCode::kFileOpen, HasSubstr("none")));
  const auto stop = [](uint64_t, uint64_t) { return false; };
  EXPECT_THAT(write_synth({.shape = preset("llama-tiny"), .fill = SynthFill::kRandom}, path("m.gguf"), stop),
              IsError(ErrorCode::kInterrupted, HasSubstr("interrupted")));
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));
}

TEST_F(SynthTest, ADirectoryIsReplacedWhenAllIsWrittenOrNotAtAll) {
  SynthOptions options{.shape = preset("llama-tiny"), .format = SynthFormat::kSafetensors, .fill = SynthFill::kRandom};
  const auto stop = [](uint64_t done, uint64_t total) { return done < total / 2; };
  EXPECT_THAT(write_synth(options, path("m"), stop), IsError(ErrorCode::kInterrupted, HasSubstr("interrupted")));
  EXPECT_THAT(write_synth(options, path("none/m"), {}), IsError(ErrorCode::kFileOpen, HasSubstr("none/m")));
  EXPECT_TRUE(std::filesystem::is_empty(dir_.path()));

  ASSERT_OK(write_synth(options, path("m/"), {}));
  const std::string before = bytes("m/model.safetensors");
  std::ignore = dir_.write("m/tokenizer.json", "{}");
  options.seed = 2;
  EXPECT_THAT(write_synth(options, path("m"), stop), IsError(ErrorCode::kInterrupted, HasSubstr("interrupted")));
  EXPECT_EQ(bytes("m/model.safetensors"), before);
  ASSERT_OK(write_synth(options, path("m"), {}));
  EXPECT_NE(bytes("m/model.safetensors"), before);
  options.split_bytes = 1'000'000;
  EXPECT_THAT(write_synth(options, path("m"), {}),
              IsError(ErrorCode::kForeignFiles, HasSubstr("holds model.safetensors, which")));
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(path("m"))) names.insert(entry.path().filename());
  EXPECT_THAT(names, ::testing::ElementsAre("config.json", "model.safetensors", "tokenizer.json"));
}

TEST_F(SynthTest, RefusesWhatTheFormatOrModelTypeHasNot) {
  const auto planned = [](SynthShape shape, const char* types) {
    return plan_synth({.shape = shape, .format = SynthFormat::kSafetensors, .types = types});
  };
  EXPECT_THAT(planned(preset("llama-tiny"), "Q8_0"), IsError(ErrorCode::kOptions, HasSubstr("one of BF16, F16, F32")));
  SynthShape shape = preset("qwen2.5-7b");
  shape.window = 5;
  EXPECT_THAT(planned(shape, "F16"), IsError(ErrorCode::kOptions, HasSubstr("window is 5, but model_type 'qwen2'")));
  shape = preset("qwen2.5-7b");
  shape.model_type = "qwen3";
  EXPECT_THAT(planned(shape, "F16"), IsError(ErrorCode::kArchitecture, HasSubstr("'qwen2' has no model_type 'qwen3'")));
  EXPECT_THAT(write_synth({.shape = preset("llama-tiny")}, path("m"), {}),
              IsError(ErrorCode::kOptions, HasSubstr(".gguf")));
}

}  // namespace
}  // namespace headrace
