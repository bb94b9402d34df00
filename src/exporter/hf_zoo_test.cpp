// The models of the zoo from their Hugging Face files, in each spelling of the configuration, against the same goldens
// as their GGUF files and against these files themselves.
#include <cmath>
#include <iostream>
#include <map>

#include "base/testing.h"
#include "engine/session.h"
#include "exporter/export.h"
#include "exporter/exporter_testing.h"
#include "exporter/hf_testing.h"
#include "interp/host_bytes.h"
#include "ops/ops.h"

namespace headrace {
namespace {

using testing::HfDirectory;
using testing::zoo_config;
using testing::zoo_directory;

// As in zoo_test.cpp.
constexpr double kTolerance = 3e-5;
constexpr int64_t kBound = 40;

struct Case {
  std::string model;
  std::string spelling = "config";
  std::string golden = {};  // of which model; its own when empty
  [[nodiscard]] std::string golden_file(const std::string& name) const {
    return fmt::format("{}/{}", zoo_directory(golden.empty() ? model : golden), name);
  }
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.model << " " << c.spelling; }

class HfZooTest : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    std::ifstream file(GetParam().golden_file("golden.json"));
    golden_ = nlohmann::json::parse(file);
  }

  Result<Session<float>> exported(const std::string& directory) {
    const HfDirectory source(GetParam().model, zoo_config(GetParam().model, GetParam().spelling));
    ExportOptions options;
    options.model_path = source.path();
    options.directory = directory;
    options.seq = {kBound};
    options.max_memory_bytes = uint64_t{8} << 30;  // sanitizers take much of it
    Warnings warnings;
    HR_TRY(const auto report, export_model(options, {}, warnings));
    std::ignore = report;
    return Session<float>::open(directory);
  }

  nlohmann::json golden_;
};

TEST_P(HfZooTest, IsWithinTheGoldensNoise) {
  const testing::TempDir directory;
  ASSERT_OK_AND_ASSIGN(const auto session, exported(directory.path() + "/out"));
  for (size_t i = 0; i < 2; ++i) {
    auto tokens = golden_["prompts"][i]["ids"].get<std::vector<int64_t>>();
    for (const int64_t id : golden_["prompts"][i]["greedy"]) tokens.push_back(id);
    ASSERT_OK_AND_ASSIGN(const auto golden,
                         load_npy<float>(GetParam().golden_file(fmt::format("golden_{}_full.npy", i))));
    ASSERT_OK_AND_ASSIGN(const auto logits, session.score(tokens));
    ASSERT_EQ(logits.elements(), golden.elements());
    double largest = 0;
    for (size_t at = 0; at < golden.floats().size(); ++at) {
      const double apart = std::abs(static_cast<double>(logits.floats()[at] - golden.floats()[at]));
      ASSERT_TRUE(apart <= 1) << "logit " << at;  // not NaN either
      largest = std::max(largest, apart);
    }
    EXPECT_LE(largest, kTolerance);
    std::cout << fmt::format("{} {} prompt {}: {:.2e}\n", GetParam().model, GetParam().spelling, i, largest);
  }
}

std::vector<Case> cases() {
  std::vector<Case> out{{.model = "gemma3_wrapped"}, {.model = "llama_sharded", .golden = "llama"}};
  for (const char* model : {"llama", "llama_tied", "llama_bias", "llama_linear", "llama_rope3", "mistral_nosw", "qwen2",
                            "qwen3", "gemma3", "gemma3_linear"})
    for (const char* spelling : {"config", "config_v4", "config_min"})
      out.push_back({.model = model, .spelling = spelling});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Models, HfZooTest, ::testing::ValuesIn(cases()),
                         [](const auto& test) { return fmt::format("{}_{}", test.param.model, test.param.spelling); });

// The two containers of one model (D03: rows of q and k; D16: norms less 1).
class PairTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string gguf = fmt::format("{}/{}.f32.gguf", zoo_directory(GetParam()), GetParam());
    ASSERT_OK_AND_ASSIGN(gguf_, open_checkpoint(gguf, warnings_));
    ASSERT_OK_AND_ASSIGN(hf_, open_checkpoint(directory_.path(), warnings_));
  }
  Result<Module> traced(const Checkpoint& checkpoint) {
    HR_TRY(const auto model, make_model(checkpoint, {}, warnings_));
    return trace_model(*model, checkpoint, kBound, warnings_);
  }

  HfDirectory directory_{GetParam(), zoo_config(GetParam())};
  Warnings warnings_;
  Checkpoint gguf_;
  Checkpoint hf_;
};

// A GGUF holds Gemma's norm weights with 1 added and rounded to f32; in f64 that rounding would be all there is to see.
void round_as_gguf(const Parameter& parameter, std::span<double> values) {
  if (parameter.role != Role::kNorm) return;
  for (double& value : values) value = static_cast<double>(static_cast<float>(1 + value)) - 1;
}

TEST_P(PairTest, F64LogitsAreEqualTo1e9) {
  const bool is_gemma = GetParam().starts_with("gemma3");
  ASSERT_OK_AND_ASSIGN(const auto a, testing::logits_of(gguf_));
  ASSERT_OK_AND_ASSIGN(const auto b, testing::logits_of(hf_, is_gemma ? round_as_gguf : nullptr));
  const double apart = testing::distance(a, b);
  std::cout << fmt::format("{}: {:.2e}\n", GetParam(), apart);
  EXPECT_LE(apart, 1e-9);
}

// A graph as lines of operations on numbered values, reached from its results, after the normalisations that the two
// containers need: RoPE pairs lie interleaved in a llama GGUF and in halves in Hugging Face's files; parameters have
// the container's names; Llama 3's divisors are a parameter there and a constant here; Gemma's norms lack 1 here.
class Lines {
 public:
  Lines(const Graph& graph, const TensorNames& names) : graph_(graph), names_(names) {
    for (const ValueId result : graph.results()) std::ignore = number(result);
  }
  [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }

 private:
  [[nodiscard]] bool is_one(const Node& node) const {
    if (node.op == &ops::kBroadcastInDim) return is_one(graph_.nodes()[node.operands[0].node]);
    const auto* literal = node.op == &ops::kConstant ? std::get_if<Literal>(node.attrs.data()) : nullptr;
    return literal != nullptr && literal->splat && literal->at(0) == 1;
  }
  // What a sum with 1 adds to, when that is a norm's weight.
  [[nodiscard]] std::optional<ValueId> norm_weight(const Node& node) const {
    if (node.op != &ops::kAdd) return std::nullopt;
    const Node& left = graph_.nodes()[node.operands[0].node];
    const Node& right = graph_.nodes()[node.operands[1].node];
    const bool is_norm = left.op == &ops::kParameter && left.results[0].shape.size() == 1 && is_one(right);
    return is_norm ? std::optional(node.operands[0]) : std::nullopt;
  }
  [[nodiscard]] std::string attributes(const Node& node) const {
    if (node.op == &ops::kParameter) {
      const auto& name = std::get<std::string>(node.attrs[0]);
      return name == "rope_freqs.weight" ? "divisors" : names_(name);
    }
    std::string out;
    for (const Attr& attr : node.attrs) out += fmt::format(" {}", hash(attr));
    return out;
  }
  // Which of two elements a slice of stride 2, or of half a head, takes of each pair.
  [[nodiscard]] std::optional<int> pair_element(const Node& node) const {
    if (node.op != &ops::kSlice) return std::nullopt;
    const auto& start = std::get<Shape>(node.attrs[0]);
    const Type& from = graph_.type(node.operands[0]);
    const int64_t whole = from.shape.back().value();
    if (node.results[0].shape.back().value() * 2 != whole) return std::nullopt;
    return start.back().value() == 0 ? 0 : 1;
  }
  [[nodiscard]] bool is_table(ValueId value) const {
    const Node& node = graph_.nodes()[value.node];
    return node.op == &ops::kConstant && !std::get<Literal>(node.attrs[0]).splat;
  }
  // Frequencies by their divisors, which are a constant here.
  [[nodiscard]] bool is_division_of_tables(const Node& node) const {
    return node.op == &ops::kDivide && is_table(node.operands[0]) && is_table(node.operands[1]);
  }
  size_t number(ValueId value) {
    const Node& node = graph_.nodes()[value.node];
    if (const auto weight = norm_weight(node)) return number(*weight);
    if (const auto it = numbers_.find(value.node); it != numbers_.end()) return it->second;
    if (is_division_of_tables(node)) divisors_ = node.operands[1].node;
    std::vector<size_t> operands;
    for (const ValueId operand : node.operands) operands.push_back(number(operand));
    const auto element = pair_element(node);
    std::string attrs = element ? fmt::format("element {}", *element) : attributes(node);
    if (divisors_ == value.node) attrs = "divisors";
    const std::string_view op = attrs == "divisors" ? "divisors" : node.op->name;
    lines_.push_back(fmt::format("{} ({}) {} : {}", op, fmt::join(operands, ", "), attrs, to_string(node.results[0])));
    return numbers_[value.node] = lines_.size();
  }

  const Graph& graph_;
  const TensorNames& names_;
  std::map<uint32_t, size_t> numbers_;
  std::vector<std::string> lines_;
  std::optional<uint32_t> divisors_;
};

TEST_P(PairTest, TheGraphIsOne) {
  ASSERT_OK_AND_ASSIGN(const Module a, traced(gguf_));
  ASSERT_OK_AND_ASSIGN(const Module b, traced(hf_));
  ASSERT_OK_AND_ASSIGN(const auto model, make_model(hf_, {}, warnings_));
  const Lines left(*a.find("score")->graph, model->names());
  const Lines right(*b.find("score")->graph, TensorNames());
  ASSERT_GT(left.lines().size(), 100U);
  EXPECT_EQ(left.lines(), right.lines());
}

INSTANTIATE_TEST_SUITE_P(Models, PairTest,
                         ::testing::Values("llama", "llama_tied", "llama_bias", "llama_linear", "llama_rope3",
                                           "mistral_nosw", "qwen2", "qwen3", "gemma3", "gemma3_linear",
                                           "gemma3_wrapped"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace headrace
