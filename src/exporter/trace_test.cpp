// The symbolic graph, specialised, is the graph that tracing at that length gives: node for node, for every model.
#include "nn/trace.h"

#include "base/testing.h"
#include "exporter/export.h"
#include "passes/pipeline.h"
#include "passes/specialise.h"
#include "stablehlo/emitter.h"

namespace headrace {
namespace {

constexpr int64_t kBound = 40;

class TraceTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const std::string path = fmt::format("{}/zoo/{}/{}.f32.gguf", HEADRACE_TESTDATA, GetParam(), GetParam());
    ASSERT_OK_AND_ASSIGN(checkpoint_, open_checkpoint(path, warnings_));
    ASSERT_OK_AND_ASSIGN(model_, make_model(checkpoint_, {}, warnings_));
  }

  // `score` traced on tokens of that many positions.
  Result<Module> traced_at(int64_t length) {
    HR_TRY(auto weights, link_weights(*model_, checkpoint_, warnings_));
    Module module{.name = std::string(model_->architecture()),
                  .symbols = {},
                  .recipes = std::move(weights.recipes),
                  .parameters = std::move(weights.parameters),
                  .functions = {}};
    const FunctionSpec spec{.name = "score",
                            .arguments = {{.name = "tokens", .type = {.dtype = DType::kI32, .shape = {1, length}}}},
                            .state = {},
                            .body = [&](Tracer& tracer, std::span<const Tensor> arguments) {
                              const Tensor positions = iota(tracer, DType::kI32, arguments[0].shape(), 1);
                              NoCache cache;
                              return std::vector<std::pair<std::string, Tensor>>{
                                  {"logits", model_->head(model_->forward(arguments[0], positions, cache))}};
                            }};
    HR_TRY(auto score, trace(spec, module.parameters));
    module.functions.push_back(std::move(score));
    return module;
  }

  Warnings warnings_;
  Checkpoint checkpoint_;
  std::unique_ptr<Model> model_;
};

TEST_P(TraceTest, SpecialisingEqualsTracingAtThatLength) {
  ASSERT_OK_AND_ASSIGN(const Module symbolic, trace_model(*model_, checkpoint_, kBound, warnings_));
  for (const int64_t length : {int64_t{1}, int64_t{2}, kBound - 1, kBound}) {
    ASSERT_OK_AND_ASSIGN(const Module special,
                         specialise(symbolic, {.engine = Engine::kXla, .symbols = {{"seq", length}}}));
    ASSERT_OK_AND_ASSIGN(const Module traced, traced_at(length));
    EXPECT_TRUE(special == traced) << length;
  }
}

TEST_P(TraceTest, TheSymbolicModuleIsPrintedForIreeWithoutReshapingAnOpenDim) {
  ASSERT_OK_AND_ASSIGN(const Module symbolic, trace_model(*model_, checkpoint_, kBound, warnings_));
  ASSERT_OK_AND_ASSIGN(const Module lowered, run_pipeline(symbolic, {.engine = Engine::kIree}));
  ASSERT_OK_AND_ASSIGN(const std::string text, emit_iree(lowered));
  EXPECT_THAT(text, ::testing::HasSubstr("tensor<1x?xi32>"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("dynamic_reshape")));
  EXPECT_THAT(run_pipeline(symbolic, {.engine = Engine::kXla}),
              testing::IsError(ErrorCode::kNoExpansion, ::testing::HasSubstr("has no spelling for xla")));
}

INSTANTIATE_TEST_SUITE_P(Models, TraceTest,
                         ::testing::Values("llama", "llama_tied", "llama_bias", "llama_linear", "llama_rope3",
                                           "mistral_nosw", "gemma3", "gemma3_linear", "gemma3_wrapped"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace headrace
