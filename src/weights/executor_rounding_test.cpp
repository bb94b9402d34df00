// Archives whose weights are rounded on their way.
#include <cmath>
#include <cstring>
#include <limits>

#include "base/half.h"
#include "base/testing.h"
#include "formats/gguf_testing.h"
#include "passes/dtype.h"
#include "weights/weights_testing.h"

namespace headrace {
namespace {

using namespace testing;  // NOLINT(google-build-using-namespace): the kit
using ::testing::HasSubstr;

Result<Checkpoint> open_in(const TempDir& dir, const GgufSpec& spec) {
  Warnings warnings;
  return open_checkpoint(dir.write("model.gguf", build_gguf(spec)), warnings);
}

// A norm in F32, and a Q4_1 that needs many chunks (4 MiB decoded) and whose values rarely fit bf16.
GgufSpec quantised_spec() {
  constexpr uint32_t kQ4_1Id = 3;
  constexpr size_t kBlocks = 1024 * 32;
  std::string bytes(kBlocks * 20, '\0');
  uint32_t x = 7;
  for (size_t i = 0; i < bytes.size(); ++i) {
    x = x * 1664525U + 1013904223U;
    const bool is_upper = i % 20 == 1 || i % 20 == 3;  // of a scale or a minimum: finite, whatever the lower byte
    bytes[i] = static_cast<char>((x >> 24U) & (is_upper ? 0x3FU : 0xFFU));
  }
  GgufSpec spec;
  spec.kvs = {kv_string("general.architecture", "llama")};
  spec.tensors = {{.name = "norm", .ne = {96}, .type = 0, .bytes = f32_bytes(std::vector<float>(96, 0.1F))},
                  {.name = "big", .ne = {1024, 1024}, .type = kQ4_1Id, .bytes = std::move(bytes)}};
  return spec;
}

// A chunked tensor, rounded after decoding: the bytes are those of the f32 archive rounded one by one, and the loss is
// the sum over chunks, whatever the number of threads.
TEST(ExecutorRounding, RoundsAfterDecodingAndCountsTheLoss) {
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_in(dir, quantised_spec()));
  ASSERT_OK_AND_ASSIGN(const Written wide, write_and_read(decoded_module(checkpoint), checkpoint.files));
  const std::string bytes = wide.parameter("big");
  std::vector<float> values(bytes.size() / sizeof(float));
  std::memcpy(values.data(), bytes.data(), bytes.size());
  std::string want;
  RoundingLoss loss;
  for (const float value : values) {
    const uint16_t half = f32_to_bf16(value);
    want += std::string(reinterpret_cast<const char*>(&half), sizeof(half));
    const double error = std::abs(static_cast<double>(bf16_to_f32(half)) - static_cast<double>(value));
    loss.add({.inexact = error == 0 ? 0U : 1U, .overflowed = 0, .largest_error = error});
  }
  Module module;
  add_parameter(module, {.sources = {source_of(checkpoint, "norm")},
                         .steps = {StepKind::kCopy},
                         .outputs = {{"norm", Type{DType::kF32, {96}}}}});
  add_parameter(module, {.sources = {source_of(checkpoint, "big")},
                         .steps = {StepKind::kDecode, StepKind::kRoundBf16},
                         .outputs = {{"big", Type{DType::kBF16, {1024, 1024}}}}});
  for (const int jobs : {1, 2}) {
    ASSERT_OK_AND_ASSIGN(const Written got, write_and_read(module, checkpoint.files, {.jobs = jobs}));
    EXPECT_TRUE(got.parameter("big") == want) << jobs;
    const auto rows = manifest_parameters(module, std::vector{NamedArchive{got.plan, got.result, "x"}});
    EXPECT_EQ(rows[0].rounding, std::nullopt);
    EXPECT_EQ(rows[1].rounding, loss);
    EXPECT_GT(loss.inexact, values.size() / 2);
    EXPECT_THAT(got.warnings, ::testing::IsEmpty());
  }
}

// Signalling NaNs and payloads too: nothing looks at the values.
TEST(ExecutorRounding, HalvesThatStayHalvesAreCopiedBitByBit) {
  constexpr uint32_t kF16Id = 1;
  constexpr uint32_t kBf16Id = 30;
  std::string halves;
  for (uint32_t bits = 0; bits < 65536; ++bits) halves += le32(bits).substr(0, 2);
  GgufSpec spec;
  spec.kvs = {kv_string("general.architecture", "llama")};
  spec.tensors = {{.name = "f16", .ne = {256, 256}, .type = kF16Id, .bytes = halves},
                  {.name = "bf16", .ne = {256, 256}, .type = kBf16Id, .bytes = halves}};
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_in(dir, spec));
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    Module module = decoded_module(checkpoint);
    for (Parameter& p : module.parameters) p.role = Role::kMatmul;
    ASSERT_OK_AND_ASSIGN(const Module narrow, narrow_weights(module, {.weights = dtype}));
    ASSERT_OK_AND_ASSIGN(const Written written, write_and_read(narrow, checkpoint.files));
    EXPECT_TRUE(written.parameter(std::string(name(dtype))) == halves) << name(dtype);
  }
}

// What overflows is the rounding's doing, and not counted as kept.
TEST(ExecutorRounding, OverflowIsToldFromInfinitiesThatWereThere) {
  std::vector<float> values(96, 1.F);
  values[3] = 7e4F;
  values[5] = -1e6F;
  values[9] = std::numeric_limits<float>::infinity();
  GgufSpec spec;
  spec.kvs = {kv_string("general.architecture", "llama")};
  spec.tensors = {{.name = "norm", .ne = {96}, .type = 0, .bytes = f32_bytes(values)}};
  const TempDir dir;
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_in(dir, spec));
  Module module;
  add_parameter(module, {.sources = {source_of(checkpoint, "norm")},
                         .steps = {StepKind::kRoundF16},
                         .outputs = {{"norm", Type{DType::kF16, {96}}}}});
  ASSERT_OK_AND_ASSIGN(const Written written, write_and_read(module, checkpoint.files));
  EXPECT_EQ(written.result.loss[0], (RoundingLoss{.inexact = 2, .overflowed = 2, .largest_error = 0}));
  EXPECT_THAT(written.warnings, ::testing::ElementsAre(HasSubstr("'norm': 1 values are NaN or infinite")));
}

}  // namespace
}  // namespace headrace
