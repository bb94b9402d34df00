// The session on a real export of a tiny model.
#include "engine/session.h"

#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "engine/decoder.h"
#include "exporter/export.h"
#include "interp/interpreter_testing.h"

namespace headrace {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsError;

constexpr int64_t kBound = 40;
const std::vector<int64_t> kPrompt{1, 201, 219, 319, 186, 248, 318};
// What the golden of testdata/zoo/llama continues with.
const std::vector<int64_t> kGreedy{243, 163, 88, 91, 159, 80, 225, 28, 65, 147, 106, 133};

std::string export_llama(const std::string& name, const std::string& weights) {
  std::string directory = ::testing::TempDir() + "headrace_session_" + name;
  std::filesystem::remove_all(directory);
  ExportOptions options;
  options.model_path = std::string(HEADRACE_TESTDATA) + "/zoo/llama/llama.f32.gguf";
  options.directory = directory;
  options.seq = {kBound};
  options.max_memory_bytes = uint64_t{8} << 30;  // sanitizers take much of it
  options.weights = weights;
  Warnings warnings;
  const auto report = export_model(options, {}, warnings);
  if (!report) throw InternalError(report.error().text());
  return directory;
}

class SessionTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { directory() = export_llama("full", "safetensors"); }
  static void TearDownTestSuite() { std::filesystem::remove_all(directory()); }
  static std::string& directory() {
    static std::string path;
    return path;
  }
};

template <class F>
double largest_difference(std::span<const F> a, std::span<const F> b) {
  HR_CHECK(a.size() == b.size());
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i)
    largest = std::max(largest, std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i])));
  return largest;
}

TEST_F(SessionTest, ScoresEveryPosition) {
  ASSERT_OK_AND_ASSIGN(const auto session, Session<float>::open(directory()));
  ASSERT_OK_AND_ASSIGN(const auto shape, session.score_shape());
  EXPECT_EQ(shape.max_tokens, kBound);
  EXPECT_EQ(shape.vocabulary, 320);
  ASSERT_OK_AND_ASSIGN(const auto logits, session.score(kPrompt));
  EXPECT_THAT(logits.sizes(), ElementsAre(1, 7, 320));
  ASSERT_OK_AND_ASSIGN(const auto first, session.score(std::span(kPrompt).first(1)));
  EXPECT_LE(largest_difference(first.floats(), logits.floats().first(320)), 1e-5);
}

TEST_F(SessionTest, RefusesTokensInOneLine) {
  ASSERT_OK_AND_ASSIGN(const auto session, Session<float>::open(directory()));
  const auto error_of = [&](const std::vector<int64_t>& tokens) {
    const auto result = session.score(tokens);
    EXPECT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code, ErrorCode::kInput);
    return result.error().text();
  };
  EXPECT_EQ(error_of({}), "no tokens, expected 1 to 40");
  EXPECT_EQ(error_of({1, 320}), "token 320 at position 1 is outside the vocabulary, expected 0 to 319");
  EXPECT_EQ(error_of({-1}), "token -1 at position 0 is outside the vocabulary, expected 0 to 319");
  EXPECT_EQ(error_of(std::vector<int64_t>(41, 1)), "41 tokens, expected at most 40 (the export's bound, --seq)");
  EXPECT_OK(session.score(std::vector<int64_t>(40, 319)));
}

// Causality: what stands to the right cannot change a row. f64 shows that the rest is rounding.
template <class F>
void expect_padding_is_harmless(const std::string& directory, double tolerance) {
  ASSERT_OK_AND_ASSIGN(const auto session, Session<F>::open(directory));
  ASSERT_OK_AND_ASSIGN(const auto exact, session.score(kPrompt));
  for (const int64_t length : {7, 8, 23, 40}) {
    ASSERT_OK_AND_ASSIGN(const auto padded, session.score(kPrompt, {.pad_to = length}));
    EXPECT_EQ(padded.sizes(), exact.sizes());
    EXPECT_LE(largest_difference(padded.floats(), exact.floats()), tolerance) << length;
  }
  for (const int64_t length : {-1, 6, 41})
    EXPECT_THAT(session.score(kPrompt, {.pad_to = length}), IsError(ErrorCode::kInput, HasSubstr("expected 7 to 40")));
}

// G08
TEST_F(SessionTest, PaddingChangesNoRowF32) { expect_padding_is_harmless<float>(directory(), 1e-5); }
TEST_F(SessionTest, PaddingChangesNoRowF64) { expect_padding_is_harmless<double>(directory(), 1e-12); }

TEST_F(SessionTest, TheDecoderContinuesWithTheGoldenTokens) {
  ASSERT_OK_AND_ASSIGN(auto engine, open_interp(directory(), {}));
  ASSERT_OK_AND_ASSIGN(auto decoder, Decoder<float>::open(std::move(engine)));
  std::vector<int64_t> streamed;
  ContinueOptions<float> options{.max_tokens = 12, .stop_at_eos = false};
  options.on_token = [&](int64_t token) {
    streamed.push_back(token);
    return true;
  };
  ASSERT_OK_AND_ASSIGN(const Continuation made, continue_text<float>(decoder, kPrompt, options));
  EXPECT_EQ(made.tokens, kGreedy);
  EXPECT_EQ(streamed, kGreedy);
}

TEST_F(SessionTest, AnExportWithoutWeightsSaysSo) {
  const std::string bare = export_llama("bare", "");
  ASSERT_OK_AND_ASSIGN(const auto session, Session<float>::open(bare));
  EXPECT_THAT(session.score(kPrompt), IsError(ErrorCode::kArchive, HasSubstr("made with --weights none")));
  std::filesystem::remove_all(bare);
}

TEST_F(SessionTest, DamagedExportsAreRefused) {
  const std::string copy = ::testing::TempDir() + "headrace_session_damaged";
  const auto damage = [&](const std::string& link, auto change) {
    std::filesystem::remove_all(copy);
    std::filesystem::copy(directory(), copy,
                          std::filesystem::copy_options::recursive | std::filesystem::copy_options::copy_symlinks);
    for (const auto& file : std::filesystem::directory_iterator(copy)) {
      if (file.is_regular_file() && !file.is_symlink() && file.path().extension() == link) change(file.path().string());
    }
    return Session<float>::open(copy);
  };
  const auto cut = [](const std::string& path) {
    std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  };
  EXPECT_THAT(damage(".safetensors", cut), ::testing::Not(testing::IsOk()));
  EXPECT_THAT(damage(".safetensors", [](const std::string& path) { std::filesystem::remove(path); }),
              ::testing::Not(testing::IsOk()));
  EXPECT_THAT(damage(".hir",
                     [](const std::string& path) {
                       std::fstream file(path);
                       file.seekp(0);
                       file << "X";
                     }),
              IsError(ErrorCode::kManifest, HasSubstr(".hir")));
  const auto rename_logits = [](const std::string& path) {
    std::ifstream in(path);
    std::string text{std::istreambuf_iterator<char>(in), {}};
    if (const size_t at = text.find("\"logits\""); at != std::string::npos) text.replace(at, 8, "\"letters\"");
    std::ofstream(path) << text;
  };
  EXPECT_THAT(
      damage(".json", rename_logits),
      IsError(ErrorCode::kManifest, HasSubstr("function 'score': results: 'letters' f32[1, seq, 320], the module "
                                              "has 'logits'")));
  std::filesystem::remove_all(copy);
  EXPECT_THAT(Session<float>::open(copy), ::testing::Not(testing::IsOk()));
}

// H07
TEST(ArgmaxTest, LowestIndexOfTheLargest) {
  const float infinity = std::numeric_limits<float>::infinity();
  const auto of = [](const std::vector<float>& values) { return argmax(std::span(values)); };
  EXPECT_EQ(of({1, 3, 2, 3}), 1);
  EXPECT_EQ(of({-infinity, -infinity}), 0);
  EXPECT_EQ(of({0, infinity, infinity}), 1);
  EXPECT_EQ(of({-0.0F, 0.0F}), 0);
  EXPECT_THAT(of({0, std::nanf(""), 1}), IsError(ErrorCode::kEvaluate, "the value at index 1 is NaN"));
  EXPECT_THAT(of({1, std::nanf("")}), IsError(ErrorCode::kEvaluate, HasSubstr("index 1")));
  EXPECT_THAT(of({}), IsError(ErrorCode::kEvaluate, HasSubstr("no values")));
}

}  // namespace
}  // namespace headrace
