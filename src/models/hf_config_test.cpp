// What a config.json may say of the models here, and what is refused: one key or tensor changed at a time.
#include "models/hf_config.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/testing.h"
#include "exporter/export.h"
#include "formats/safetensors_testing.h"
#include "models/model.h"
#include "ops/ops.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::IsError;
using testing::SafetensorsTensor;
using Json = nlohmann::json;

// A toy model of 1 layer, width 8, 2 heads on 1, 5 tokens: its configuration and the names and shapes of its tensors.
struct Toy {
  Json config;
  std::vector<SafetensorsTensor> tensors;

  void add(const std::string& name, std::vector<int64_t> shape, float value = 0.5F) {
    int64_t elements = 1;
    for (const int64_t size : shape) elements *= size;
    std::string bytes = testing::f32_bytes(std::vector<float>(static_cast<size_t>(elements), value));
    tensors.push_back({.name = name, .dtype = "F32", .shape = std::move(shape), .bytes = std::move(bytes)});
  }
  void drop(std::string_view name) {
    std::erase_if(tensors, [&](const SafetensorsTensor& t) { return t.name == name; });
  }
};

void add_block(Toy& toy, const std::string& prefix) {
  const std::string layer = prefix + "layers.0.";
  for (const char* norm : {"input_layernorm.weight", "post_attention_layernorm.weight"}) toy.add(layer + norm, {8});
  toy.add(layer + "self_attn.q_proj.weight", {8, 8});
  toy.add(layer + "self_attn.k_proj.weight", {4, 8});
  toy.add(layer + "self_attn.v_proj.weight", {4, 8});
  toy.add(layer + "self_attn.o_proj.weight", {8, 8});
  toy.add(layer + "mlp.gate_proj.weight", {12, 8});
  toy.add(layer + "mlp.up_proj.weight", {12, 8});
  toy.add(layer + "mlp.down_proj.weight", {8, 12});
}

Toy toy(const std::string& model_type, const std::string& prefix = "model.", const std::string& head = "lm_head") {
  Toy out{.config = {{"model_type", model_type},
                     {"hidden_size", 8},
                     {"intermediate_size", 12},
                     {"num_hidden_layers", 1},
                     {"num_attention_heads", 2},
                     {"num_key_value_heads", 1},
                     {"head_dim", 4},
                     {"max_position_embeddings", 16},
                     {"vocab_size", 5}},
          .tensors = {}};
  out.add(prefix + "embed_tokens.weight", {5, 8}, 0.25F);
  add_block(out, prefix);
  if (model_type == "qwen2")
    for (const auto& [name, size] : {std::pair{"q", 8}, std::pair{"k", 4}, std::pair{"v", 4}})
      out.add(fmt::format("{}layers.0.self_attn.{}_proj.bias", prefix, name), {size});
  if (model_type == "gemma3_text")
    for (const char* name : {"pre_feedforward_layernorm", "post_feedforward_layernorm"})
      out.add(fmt::format("{}layers.0.{}.weight", prefix, name), {8});
  if (model_type == "qwen3" || model_type == "gemma3_text")
    for (const char* name : {"q_norm", "k_norm"})
      out.add(fmt::format("{}layers.0.self_attn.{}.weight", prefix, name), {4});
  out.add(prefix + "norm.weight", {8});
  out.add(head + ".weight", {5, 8});
  return out;
}

struct Outcome {
  std::vector<ConfigEntry> config;
  LinkedWeights weights;
  bool tied{};
  std::vector<std::string> warnings;

  [[nodiscard]] std::string value(std::string_view field) const {
    for (const ConfigEntry& e : config)
      if (e.name == field) return fmt::format("{} <- {}", e.value, e.origin);
    return "absent";
  }
};

Result<Outcome> outcome(const Toy& toy) {
  const testing::TempDir directory;
  std::ignore = directory.write("config.json", toy.config.dump());
  std::ignore = directory.write("model.safetensors", testing::build_safetensors(toy.tensors));
  Warnings warnings;
  HR_TRY(const Checkpoint checkpoint, open_checkpoint(directory.path(), warnings));
  HR_TRY(const auto model, make_model(checkpoint, {}, warnings));
  HR_TRY(auto weights, link_weights(*model, checkpoint, warnings));
  return Outcome{.config = model->config(),
                 .weights = std::move(weights),
                 .tied = model->tied_head(),
                 .warnings = std::move(warnings.lines)};
}

TEST(HfConfig, EveryModelTypeIsServed) {
  size_t served = 0;
  for (const ArchitectureInfo& row : architecture_table())
    for (const HfDialect& dialect : row.dialects()) {
      Toy t = toy(std::string(dialect.model_type));
      t.config["tie_word_embeddings"] = false;  // a default that differs between the classes
      ASSERT_OK_AND_ASSIGN(const Outcome o, outcome(t));
      EXPECT_THAT(o.value("norm_eps"), HasSubstr(dialect.class_name));
      ++served;
    }
  EXPECT_GE(served, 5U);
}

TEST(HfConfig, RefusesByName) {
  const auto changed = [](const std::string& key, const Json& value, const std::string& type = "llama") {
    Toy t = toy(type);
    t.config[key] = value;
    return outcome(t);
  };
  EXPECT_THAT(changed("model_type", "phi3"),
              IsError(ErrorCode::kArchitecture, AllOf(HasSubstr("model_type \"phi3\""), HasSubstr("qwen3"))));
  EXPECT_THAT(changed("model_type", nullptr), IsError(ErrorCode::kConfigValue, HasSubstr("'model_type'")));
  EXPECT_THAT(changed("num_local_experts", 8),
              IsError(ErrorCode::kConfigUnsupported, HasSubstr("'num_local_experts'")));
  EXPECT_THAT(changed("vocab_size", 6), IsError(ErrorCode::kTensorLink, AllOf(HasSubstr("is 6"), HasSubstr("5 rows"))));
  EXPECT_THAT(changed("num_hidden_layers", 2),
              IsError(ErrorCode::kTensorLink, HasSubstr("'model.layers.1.input_layernorm.weight' is missing")));
  EXPECT_THAT(changed("num_hidden_layers", "1"), IsError(ErrorCode::kConfigValue, HasSubstr("'num_hidden_layers'")));
  EXPECT_THAT(changed("num_hidden_layers", -1), IsError(ErrorCode::kConfigValue, HasSubstr("is -1")));
  EXPECT_THAT(changed("quantization_config", Json{{"quant_method", "fp8"}}),
              IsError(ErrorCode::kConfigUnsupported, HasSubstr("'quantization_config'")));
  EXPECT_THAT(changed("use_sliding_window", true, "qwen2"),
              IsError(ErrorCode::kConfigUnsupported, HasSubstr("'use_sliding_window' is true")));
  EXPECT_THAT(changed("layer_types", Json::array({"sliding_attention"}), "qwen3"),
              IsError(ErrorCode::kConfigUnsupported, HasSubstr("'layer_types'")));
  EXPECT_THAT(changed("layer_types", Json::array({"linear_attention"}), "qwen3"),
              IsError(ErrorCode::kConfigUnsupported, HasSubstr("\"linear_attention\" for layer 0")));
  EXPECT_THAT(changed("layer_types", Json::array({"full_attention", "full_attention"}), "qwen3"),
              IsError(ErrorCode::kConfigValue, HasSubstr("2 items")));
}

// Found by dense inputs: what is sized by a count before the tensors are looked at has a limit of its own.
TEST(HfConfig, CountsBeyondAnyModelAreRefused) {
  const auto of_layers = [](int64_t layers) {
    Toy t = toy("llama");
    t.config["num_hidden_layers"] = layers;
    return outcome(t);
  };
  EXPECT_THAT(of_layers(512),
              IsError(ErrorCode::kTensorLink, HasSubstr("'model.layers.1.input_layernorm.weight' is missing")));
  EXPECT_THAT(of_layers(513),
              IsError(ErrorCode::kConfigValue, HasSubstr("'num_hidden_layers' is 513, expected at most 512")));
  EXPECT_THAT(of_layers(int64_t{1} << 28), IsError(ErrorCode::kConfigValue, HasSubstr("expected at most 512")));
  Toy wide = toy("llama");
  wide.config["head_dim"] = 65'538;
  wide.config["rope_scaling"] = {{"rope_type", "llama3"},
                                 {"factor", 8},
                                 {"low_freq_factor", 1},
                                 {"high_freq_factor", 4},
                                 {"original_max_position_embeddings", 64}};
  EXPECT_THAT(outcome(wide), IsError(ErrorCode::kConfigValue,
                                     HasSubstr("heads are 65538 wide (key 'head_dim'), expected at most 65536")));
}

// A value of megabytes is not repeated whole.
TEST(HfConfig, LongValuesAreCutInMessages) {
  const std::string value(5000, 'v');
  for (const char* key : {"model_type", "hidden_act", "layer_types"}) {
    Toy t = toy("qwen3");
    t.config[key] = std::string_view(key) == "layer_types" ? Json::array({value}) : Json(value);
    const auto o = outcome(t);
    ASSERT_FALSE(o) << key;
    EXPECT_LT(o.error().message.size(), 1100U) << key;
    EXPECT_THAT(o.error().message, HasSubstr("vvvv")) << key;
  }
}

// Found by dense inputs: a line for each of a hundred thousand tensors is memory, and nothing that anybody reads.
TEST(HfConfig, TheFirstHundredFaultsOfTensorsAreListed) {
  Toy t = toy("llama");
  for (int i = 0; i < 130; ++i) t.add(fmt::format("model.other.{}", i), {1});
  const auto o = outcome(t);
  ASSERT_THAT(o, IsError(ErrorCode::kTensorLink, HasSubstr("has no place")));
  EXPECT_EQ(o.error().more.size(), 100U);
  EXPECT_EQ(o.error().more.back(), "and 30 more tensors that are wrong");
}

// D18: the activations of other models; for a model here there is one.
TEST(HfConfig, D18AnotherActivationIsRefused) {
  for (const char* name : {"gelu", "gelu_pytorch_tanh", "gelu_new", "quick_gelu", "relu", "foo"}) {
    Toy t = toy("llama");
    t.config["hidden_act"] = name;
    EXPECT_THAT(outcome(t), IsError(ErrorCode::kConfigUnsupported, AllOf(HasSubstr(name), HasSubstr("\"silu\""))));
  }
}

// D06: one RoPE in the words of transformers 4 and 5, and what contradicts or is not there.
TEST(HfConfig, D06SpellingsOfRope) {
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
TEST(HfConfig, D20TiedHeads) {
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
TEST(HfConfig, D04BiasesAgreeWithTheConfiguration) {
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
TEST(HfConfig, D22NormsOfQAndKAreOfOneHead) {
  Toy t = toy("qwen3");
  t.drop("model.layers.0.self_attn.q_norm.weight");
  t.add("model.layers.0.self_attn.q_norm.weight", {8});
  EXPECT_THAT(outcome(t), IsError(ErrorCode::kTensorLink, HasSubstr("q_norm.weight' has shape [8], expected [4]")));
}

// C08: scales beside quantised weights are siblings that would be left out.
TEST(HfConfig, C08ScalesBesideWeightsAreRefused) {
  for (const char* sibling : {"weight_scale_inv", "weight_scale", "weight_packed", "g_idx"}) {
    Toy t = toy("llama");
    t.add(fmt::format("model.layers.0.mlp.up_proj.{}", sibling), {1});
    EXPECT_THAT(outcome(t), IsError(ErrorCode::kTensorLink, HasSubstr(sibling)));
  }
}

// D17: the root of the width in f32, not rounded to the dtype that weights are stored in; once, at the embedding.
TEST(HfConfig, D17GemmasEmbeddingScaleIsExact) {
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

// Numbers that are none once they are f32, as a program holds them.
TEST(HfConfig, NumbersBeyondF32AreRefused) {
  for (const auto& [key, value] : {std::pair{"rms_norm_eps", 1e300}, std::pair{"rms_norm_eps", 1e-45},
                                   std::pair{"rope_theta", 1e-300}, std::pair{"rope_theta", 5e-324}}) {
    Toy t = toy("llama");
    t.config[key] = value;
    EXPECT_THAT(outcome(t), IsError(ErrorCode::kConfigValue, HasSubstr(key)));
  }
}

TEST(HfConfig, NoValueIsNotAbsence) {
  Toy t = toy("llama");
  t.config["hidden_act"] = nullptr;
  EXPECT_THAT(outcome(t), IsError(ErrorCode::kConfigUnsupported, HasSubstr("'hidden_act'")));
  for (const char* key : {"rms_norm_eps", "hidden_act", "head_dim", "attention_bias", "rope_theta"}) {
    Toy empty = toy("llama");
    empty.config[key] = Json::object();
    EXPECT_FALSE(outcome(empty)) << key;
  }
}

TEST(HfConfig, MistralHasNoBiases) {
  Toy t = toy("mistral");
  t.config["attention_bias"] = true;
  EXPECT_THAT(outcome(t), IsError(ErrorCode::kConfigUnsupported, HasSubstr("'attention_bias'")));
}

TEST(HfConfig, PlacesOfATextModel) {
  for (const auto& [prefix, head] : {std::pair{"language_model.model.", "language_model.lm_head"},
                                     std::pair{"model.language_model.", "lm_head"}, std::pair{"", "lm_head"}}) {
    Toy t = toy("llama", prefix, head);
    t.config = {{"model_type", "llava"}, {"text_config", t.config}, {"image_token_index", 4}};
    t.add("vision_tower.encoder.weight", {2, 2});
    t.add(fmt::format("{}layers.0.self_attn.rotary_emb.inv_freq", prefix), {2});
    ASSERT_OK_AND_ASSIGN(const Outcome o, outcome(t));
    EXPECT_EQ(o.value("layers"), "1 <- key text_config.num_hidden_layers");
    EXPECT_THAT(o.warnings, Contains(HasSubstr("the text model alone, 'llama', is read")));
    EXPECT_THAT(o.warnings, Contains(HasSubstr("2 tensors outside the text model")));
  }
  Toy twice = toy("llama");
  twice.add("language_model.model.embed_tokens.weight", {5, 8});
  EXPECT_THAT(outcome(twice), IsError(ErrorCode::kTensorLink, HasSubstr("two text models")));
}

// A GGUF's divisors mean nothing in a Hugging Face file.
TEST(HfConfig, RopeDivisorsAreNoTensorHere) {
  Toy t = toy("llama");
  t.add("rope_freqs.weight", {2});
  ASSERT_OK_AND_ASSIGN(const Outcome o, outcome(t));
  EXPECT_EQ(o.weights.parameters.size(), 12U);
  EXPECT_THAT(o.warnings, Contains(HasSubstr("rope_freqs.weight")));
}

TEST(HfConfig, CodeBesideACheckpointIsNamed) {
  Toy t = toy("llama");
  t.config["auto_map"] = {{"AutoModelForCausalLM", "modeling_x.XForCausalLM"}};
  ASSERT_OK_AND_ASSIGN(const Outcome o, outcome(t));
  EXPECT_THAT(o.warnings, Contains(HasSubstr("'auto_map.AutoModelForCausalLM' names code")));
}

TEST(HfConfig, KeysThatSayAsAlways) {
  Toy t = toy("qwen2");
  t.config.update({{"attention_bias", false},
                   {"mlp_bias", false},
                   {"is_encoder_decoder", false},
                   {"partial_rotary_factor", 1},
                   {"use_mrope", false}});
  EXPECT_OK(outcome(t));
  for (const char* key : {"attention_bias", "is_encoder_decoder", "use_mrope"}) {
    Toy other = toy("qwen2");
    other.config[key] = true;
    EXPECT_THAT(outcome(other), IsError(ErrorCode::kConfigUnsupported, HasSubstr(key)));
  }
}

// Nothing is sized by a head's width before the projections bear it out.
TEST(HfConfig, AWidthOfHeadsThatTheTensorsDoNotHave) {
  Toy t = toy("llama");
  t.config["head_dim"] = 1024;
  t.config["rope_scaling"] = {{"rope_type", "llama3"},
                              {"factor", 8.0},
                              {"low_freq_factor", 1.0},
                              {"high_freq_factor", 4.0},
                              {"original_max_position_embeddings", 64}};
  EXPECT_THAT(outcome(t), IsError(ErrorCode::kTensorLink, HasSubstr("q_proj.weight' has 8 rows, expected 2 heads of")));
}

TEST(HfConfig, AWrapperMayNotContradictItsTextModel) {
  Toy t = toy("llama");
  t.config["tie_word_embeddings"] = false;
  Json wrapper{{"model_type", "llava"}, {"text_config", t.config}, {"tie_word_embeddings", true}};
  t.config = wrapper;
  EXPECT_THAT(outcome(t), IsError(ErrorCode::kConfigUnsupported, HasSubstr("'text_config.tie_word_embeddings'")));
  t.config["text_config"].erase("tie_word_embeddings");
  t.drop("lm_head.weight");
  ASSERT_OK_AND_ASSIGN(const Outcome o, outcome(t));
  EXPECT_TRUE(o.tied);
}

TEST(HfConfig, MistralsWindow) {
  Toy t = toy("mistral");
  const auto window = [&]() -> std::string {
    const auto o = outcome(t);
    return o ? o->value("window") : o.error().message;
  };
  EXPECT_THAT(window(), HasSubstr("4096 <- default of MistralConfig"));
  t.config["sliding_window"] = nullptr;
  EXPECT_EQ(window(), "absent");
  t.config["sliding_window"] = 3;
  EXPECT_EQ(window(), "3 <- key sliding_window");
}

TEST(HfConfig, DefaultsAreNamedInAWarning) {
  ASSERT_OK_AND_ASSIGN(const Outcome o, outcome(toy("llama")));
  ASSERT_EQ(o.warnings.size(), 1U);
  EXPECT_THAT(o.warnings[0], AllOf(HasSubstr("rms_norm_eps"), HasSubstr("transformers' LlamaConfig")));
}

}  // namespace
}  // namespace headrace
