// What a config.json may say of the models here, and what is refused: one key or tensor changed at a time.
#include "models/hf_config.h"

#include "base/testing.h"
#include "models/hf_testing.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using testing::IsError;
using testing::Json;
using testing::Outcome;
using testing::outcome;
using testing::Toy;
using testing::toy;

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
