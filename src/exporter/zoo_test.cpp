// Whole exports of tiny models against logits that independent implementations computed (testdata/zoo/README.md): rows
// of q and k permuted by their own numbers of heads (D01), llama 3's divisors (D08), linear scaling on global layers
// alone (D12), windows and layer schedules at positions beyond the window (D14, D19).
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/testing.h"
#include "engine/decoder.h"
#include "engine/session.h"
#include "exporter/export.h"
#include "interp/host_bytes.h"

namespace headrace {
namespace {

// Beyond the goldens' own noise (at most 1.1e-5) and below what a wrong rms_norm_eps moves (1.4e-4).
constexpr double kTolerance = 3e-5;
constexpr int64_t kBound = 40;

// The q8w goldens of the GELU models are llama.cpp's, whose GELU is a table over f16: 4e-3 to 6e-3 from exact maths
// (testdata/zoo/README.md). tests/engines/test_engine_gemma3_q8.py compares those files with a program in numpy f64.
double q8w_tolerance(const std::string& model) { return model.starts_with("gemma3") ? 1e-2 : kTolerance; }

std::string zoo(const std::string& model, const std::string& file) {
  return fmt::format("{}/zoo/{}/{}", HEADRACE_TESTDATA, model, file);
}

class ZooTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    directory_ = ::testing::TempDir() + "headrace_zoo_" + GetParam();
    std::ifstream file(zoo(GetParam(), "golden.json"));
    golden_ = nlohmann::json::parse(file);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  void export_from(const std::string& kind) {
    std::filesystem::remove_all(directory_);
    Warnings warnings;
    ExportOptions options;
    options.model_path = zoo(GetParam(), fmt::format("{}.{}.gguf", GetParam(), kind));
    options.directory = directory_;
    options.seq = {kBound};
    options.max_memory_bytes = uint64_t{8} << 30;  // sanitizers take much of it
    ASSERT_OK(export_model(options, {}, warnings));
  }

  // Largest distance of the logits of prompt i from a golden file, over all positions. `with_greedy` appends the golden
  // continuation to the prompt.
  template <class F>
  void distance(size_t i, bool with_greedy, const std::string& suffix, double& largest) const {
    ASSERT_OK_AND_ASSIGN(const auto session, Session<F>::open(directory_));
    auto tokens = golden_["prompts"][i]["ids"].template get<std::vector<int64_t>>();
    if (with_greedy)
      for (const int64_t id : golden_["prompts"][i]["greedy"]) tokens.push_back(id);
    ASSERT_OK_AND_ASSIGN(const auto golden, load_npy<F>(zoo(GetParam(), fmt::format("golden_{}{}.npy", i, suffix))));
    ASSERT_OK_AND_ASSIGN(const auto logits, session.score(tokens));
    ASSERT_EQ(logits.elements(), golden.elements());
    largest = 0;
    for (size_t at = 0; at < golden.floats().size(); ++at) {
      const double apart = std::abs(static_cast<double>(logits.floats()[at] - golden.floats()[at]));
      ASSERT_TRUE(apart <= 1) << "logit " << at;  // not NaN either
      largest = std::max(largest, apart);
    }
  }

  std::string directory_;
  nlohmann::json golden_;
};

TEST_P(ZooTest, F32IsWithinTheGoldensNoise) {
  export_from("f32");
  for (size_t i = 0; i < 2; ++i) {
    for (const bool with_greedy : {false, true}) {
      double largest = 0;
      distance<float>(i, with_greedy, with_greedy ? "_full" : "", largest);
      EXPECT_LE(largest, kTolerance);
      RecordProperty(fmt::format("f32_{}_{}", i, with_greedy), fmt::format("{}", largest));
      std::cout << fmt::format("{} prompt {}{} f32: {:.2e}\n", GetParam(), i, with_greedy ? " + greedy" : "", largest);
    }
  }
}

TEST_P(ZooTest, Q8WeightsAreDecodedAsTheGoldens) {
  export_from("q8_0");
  for (size_t i = 0; i < 2; ++i) {
    double largest = 0;
    distance<float>(i, false, "_q8w", largest);
    EXPECT_LE(largest, q8w_tolerance(GetParam()));
    std::cout << fmt::format("{} prompt {} q8_0: {:.2e}\n", GetParam(), i, largest);
  }
}

// In f64 our own rounding is gone: what is left is the golden's, which golden.json states. Twice that leaves room for
// the two having been rounded differently.
TEST_P(ZooTest, F64IsAsFarAsTheGoldenIsNoisy) {
  export_from("f32");
  for (size_t i = 0; i < 2; ++i) {
    double largest = 0;
    distance<double>(i, false, "", largest);
    const double noise = golden_["prompts"][i]["noise_f32_vs_f64"];
    EXPECT_LE(largest, 2 * noise);
    std::cout << fmt::format("{} prompt {} f64: {:.2e}, golden's noise {:.2e}\n", GetParam(), i, largest, noise);
  }
}

TEST_P(ZooTest, ContinuesAsTheGolden) {
  export_from("f32");
  ASSERT_OK_AND_ASSIGN(auto engine, open_interp(directory_, {}));
  ASSERT_OK_AND_ASSIGN(auto decoder, Decoder<float>::open(std::move(engine)));
  for (const auto& prompt : golden_["prompts"]) {
    const auto tokens = prompt["ids"].get<std::vector<int64_t>>();
    decoder.clear();
    ASSERT_OK_AND_ASSIGN(const Continuation made,
                         continue_text<float>(decoder, tokens, {.max_tokens = 12, .stop_at_eos = false}));
    EXPECT_EQ(made.tokens, prompt["greedy"].get<std::vector<int64_t>>());
  }
}

INSTANTIATE_TEST_SUITE_P(Models, ZooTest,
                         ::testing::Values("llama", "llama_tied", "llama_bias", "llama_linear", "llama_rope3",
                                           "mistral_nosw", "qwen2", "qwen3", "gemma3", "gemma3_linear",
                                           "gemma3_wrapped"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace headrace
