// Faults of other programs that public reports tell of (docs/bug-reports.md), as configurations of Hugging Face.
#include <cmath>

#include "base/testing.h"
#include "exporter/export.h"
#include "models/hf_config.h"
#include "models/hf_testing.h"
#include "ops/ops.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsError;
using testing::Json;
using testing::Outcome;
using testing::outcome;
using testing::SafetensorsTensor;
using testing::Toy;
using testing::toy;

// D18: the activations of other models; for a model here there is one.
TEST(HfReports, D18AnotherActivationIsRefused) {
  for (const char* name : {"gelu", "gelu_pytorch_tanh", "gelu_new", "quick_gelu", "relu", "foo"}) {
    Toy t = toy("llama");
    t.config["hidden_act"] = name;
    EXPECT_THAT(outcome(t), IsError(ErrorCode::kConfigUnsupported, AllOf(HasSubstr(name), HasSubstr("\"silu\""))));
  }
}

// D06: one RoPE in the words of transformers 4 and 5, and what contradicts or is not there.
TEST(HfReports, D06SpellingsOfRope) {
  const auto base = [](const Json& change) -> std::string {
    Toy t = toy("llama");
    t.config.update(change);
    const auto o = outcome(t);
    return o ? o->value("rope_base") : o.error().message;
  };
  EXPECT_THAT(base(Json::object()), HasSubstr("10000 <- default of LlamaConfig"));
  EXPECT_EQ(base({{"rope_theta", 5e5}}), "500000 <- key rope_theta");
  EXPECT_EQ(base({{"rope_theta", 5e5}, {"rope_scaling", nullptr}}), "500000 <- key rope_theta");
  EXPECT_EQ(base({{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5e5}}}}),
            "500000 <- key rope_parameters.rope_theta");
  EXPECT_EQ(base({{"rope_theta", 5e5}, {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5e5}}}}),
            "500000 <- key rope_parameters.rope_theta");
  EXPECT_THAT(base({{"rope_theta", 4e5}, {"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5e5}}}}),
              HasSubstr("'rope_theta' is 400000"));
  EXPECT_THAT(base({{"rope_parameters", {{"rope_type", "default"}}}}), HasSubstr("'rope_theta' is missing"));
  const Json linear{{"rope_type", "linear"}, {"factor", 2.0}};
  Json both{{"rope_parameters", linear}, {"rope_scaling", linear}};
  both["rope_parameters"]["rope_theta"] = 5e5;
  EXPECT_EQ(base(both), "500000 <- key rope_parameters.rope_theta");
  both["rope_scaling"]["factor"] = 3.0;
  EXPECT_THAT(base(both), HasSubstr("'rope_scaling.factor' and 'rope_parameters.factor' differ: 3"));
  EXPECT_THAT(base({{"rope_scaling", {{"factor", 2.0}}}}), HasSubstr("'rope_scaling.rope_type' is missing"));
  EXPECT_THAT(base({{"rope_scaling", {{"rope_type", "linear"}}}}), HasSubstr("'rope_scaling.factor' is missing"));
  EXPECT_THAT(base({{"rope_scaling", {{"rope_type", "linear"}, {"type", "yarn"}, {"factor", 2.0}}}}),
              HasSubstr("differ: \"yarn\" and \"linear\""));
  EXPECT_THAT(base({{"rope_scaling", {{"type", "dynamic"}, {"factor", 2.0}}}}), HasSubstr("type \"dynamic\""));
  EXPECT_THAT(base({{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}, {"extra", 1}}}}),
              HasSubstr("'rope_scaling.extra'"));
  EXPECT_THAT(
      base({{"rope_parameters", {{"rope_type", "default"}, {"rope_theta", 5e5}, {"partial_rotary_factor", 0.5}}}}),
      HasSubstr("'rope_parameters.partial_rotary_factor' is 0.5"));
}

// D20: {tie true, false, absent} x {head absent, equal to the embedding, different}.
TEST(HfReports, D20TiedHeads) {
  const auto with = [](const Json& tie, const char* head) {
    Toy t = toy("llama");
    if (!tie.is_null()) t.config["tie_word_embeddings"] = tie;
    if (std::string_view(head) != "different") t.drop("lm_head.weight");
    if (std::string_view(head) == "equal") t.add("lm_head.weight", {5, 8}, 0.25F);
    return outcome(t);
  };
  const auto parameters = [](const Result<Outcome>& o) { return o ? o->weights.parameters.size() : 0; };
  const auto untied = with(false, "different");
  ASSERT_OK(untied);
  EXPECT_FALSE(untied->tied);
  for (const char* head : {"absent", "equal"}) {
    const auto tied = with(true, head);
    ASSERT_OK(tied);
    EXPECT_TRUE(tied->tied);
    EXPECT_EQ(parameters(tied), parameters(untied) - 1) << head;
  }
  EXPECT_THAT(with(true, "different"),
              IsError(ErrorCode::kConfigUnsupported,
                      HasSubstr("'lm_head.weight' (F32) differs from 'model.embed_tokens.weight' (F32)")));
  EXPECT_THAT(with(false, "absent"), IsError(ErrorCode::kTensorLink, HasSubstr("'lm_head.weight'")));
  EXPECT_THAT(with(nullptr, "absent"), IsError(ErrorCode::kTensorLink, HasSubstr("'lm_head.weight'")));
  EXPECT_EQ(parameters(with(false, "equal")), parameters(untied));
  Toy headless = toy("llama");
  headless.drop("model.embed_tokens.weight");
  EXPECT_THAT(outcome(headless), IsError(ErrorCode::kTensorLink, HasSubstr("no embedding")));
}

// D04: biases are the configuration's, and a file that has others is refused by their names.
TEST(HfReports, D04BiasesAgreeWithTheConfiguration) {
  Toy flagged = toy("llama");
  flagged.config["attention_bias"] = true;
  EXPECT_THAT(outcome(flagged), IsError(ErrorCode::kTensorLink, HasSubstr("q_proj.bias' [8] (bias) is missing")));
  Toy extra = toy("llama");
  extra.add("model.layers.0.self_attn.q_proj.bias", {8});
  EXPECT_THAT(outcome(extra), IsError(ErrorCode::kTensorLink, HasSubstr("q_proj.bias' [8] has no place")));
  Toy partial = toy("qwen2");
  partial.drop("model.layers.0.self_attn.k_proj.bias");
  EXPECT_THAT(outcome(partial), IsError(ErrorCode::kTensorLink, HasSubstr("k_proj.bias' [4] (bias) is missing")));
}

// D22: a norm of the whole projection is another model's.
TEST(HfReports, D22NormsOfQAndKAreOfOneHead) {
  Toy t = toy("qwen3");
  t.drop("model.layers.0.self_attn.q_norm.weight");
  t.add("model.layers.0.self_attn.q_norm.weight", {8});
  EXPECT_THAT(outcome(t), IsError(ErrorCode::kTensorLink, HasSubstr("q_norm.weight' has shape [8], expected [4]")));
}

// C08: scales beside quantised weights are siblings that would be left out.
TEST(HfReports, C08ScalesBesideWeightsAreRefused) {
  for (const char* sibling : {"weight_scale_inv", "weight_scale", "weight_packed", "g_idx"}) {
    Toy t = toy("llama");
    t.add(fmt::format("model.layers.0.mlp.up_proj.{}", sibling), {1});
    EXPECT_THAT(outcome(t), IsError(ErrorCode::kTensorLink, HasSubstr(sibling)));
  }
}

// D17: the root of the width in f32, not rounded to the dtype that weights are stored in; once, at the embedding.
TEST(HfReports, D17GemmasEmbeddingScaleIsExact) {
  Toy t = toy("gemma3_text");
  t.drop("lm_head.weight");
  for (SafetensorsTensor& tensor : t.tensors) {
    tensor.dtype = "BF16";
    tensor.bytes.resize(tensor.bytes.size() / 2);
  }
  const testing::TempDir directory;
  std::ignore = directory.write("config.json", t.config.dump());
  std::ignore = directory.write("model.safetensors", testing::build_safetensors(t.tensors));
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, open_checkpoint(directory.path(), warnings));
  ASSERT_OK_AND_ASSIGN(const auto model, make_model(checkpoint, {}, warnings));
  ASSERT_OK_AND_ASSIGN(const Module module, trace_model(*model, checkpoint, 4, warnings));
  const auto scale = Literal::filled(DType::kF32, {}, std::sqrt(8.0));
  size_t found = 0;
  for (const Node& node : module.find("score")->graph->nodes())
    found += node.op == &ops::kConstant && std::get<Literal>(node.attrs[0]) == scale ? 1 : 0;
  EXPECT_EQ(found, 1U);
}

}  // namespace
}  // namespace headrace
