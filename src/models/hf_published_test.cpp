// Configurations with the keys and values that published checkpoints have: each is read, none is refused for a key that
// does not matter.
#include <nlohmann/json.hpp>

#include "base/testing.h"
#include "formats/config_json.h"
#include "models/model.h"

namespace headrace {
namespace {

using Json = nlohmann::json;

struct Published {
  const char* name;
  const char* config;
  std::vector<std::pair<const char*, const char*>> wanted;  // field, value
};

void PrintTo(const Published& p, std::ostream* out) { *out << p.name; }

constexpr const char* kSmolLm2 =
    R"({"architectures":["LlamaForCausalLM"],"attention_bias":false,"attention_dropout":0.0,
  "bos_token_id":1,"eos_token_id":2,"hidden_act":"silu","hidden_size":576,"initializer_range":0.041666666666666664,
  "intermediate_size":1536,"is_llama_config":true,"max_position_embeddings":8192,"mlp_bias":false,"model_type":"llama",
  "num_attention_heads":9,"num_hidden_layers":30,"num_key_value_heads":3,"pad_token_id":2,"pretraining_tp":1,
  "rms_norm_eps":1e-05,"rope_interleaved":false,"rope_scaling":null,"rope_theta":100000,"tie_word_embeddings":true,
  "torch_dtype":"bfloat16","transformers.js_config":{"kv_cache_dtype":{"q4f16":"float16","fp16":"float16"}},
  "transformers_version":"4.42.3","use_cache":true,"vocab_size":49152})";
constexpr const char* kLlama32 =
    R"({"architectures":["LlamaForCausalLM"],"attention_bias":false,"attention_dropout":0.0,
  "bos_token_id":128000,"eos_token_id":[128001,128008,128009],"head_dim":64,"hidden_act":"silu","hidden_size":2048,
  "initializer_range":0.02,"intermediate_size":8192,"max_position_embeddings":131072,"mlp_bias":false,
  "model_type":"llama","num_attention_heads":32,"num_hidden_layers":16,"num_key_value_heads":8,"pretraining_tp":1,
  "rms_norm_eps":1e-05,"rope_scaling":{"factor":32.0,"high_freq_factor":4.0,"low_freq_factor":1.0,
  "original_max_position_embeddings":8192,"rope_type":"llama3"},"rope_theta":500000.0,"tie_word_embeddings":true,
  "torch_dtype":"bfloat16","transformers_version":"4.45.0.dev0","use_cache":true,"vocab_size":128256})";
constexpr const char* kTinyLlama = R"({"architectures":["LlamaForCausalLM"],"attention_bias":false,"bos_token_id":1,
  "eos_token_id":2,"hidden_act":"silu","hidden_size":2048,"initializer_range":0.02,"intermediate_size":5632,
  "max_position_embeddings":2048,"model_type":"llama","num_attention_heads":32,"num_hidden_layers":22,
  "num_key_value_heads":4,"pretraining_tp":1,"rms_norm_eps":1e-05,"rope_scaling":null,"rope_theta":10000.0,
  "tie_word_embeddings":false,"torch_dtype":"bfloat16","transformers_version":"4.35.0","use_cache":true,
  "vocab_size":32000})";
constexpr const char* kMistral01 = R"({"architectures":["MistralForCausalLM"],"bos_token_id":1,"eos_token_id":2,
  "hidden_act":"silu","hidden_size":4096,"initializer_range":0.02,"intermediate_size":14336,
  "max_position_embeddings":32768,"model_type":"mistral","num_attention_heads":32,"num_hidden_layers":32,
  "num_key_value_heads":8,"rms_norm_eps":1e-05,"rope_theta":10000.0,"sliding_window":4096,"tie_word_embeddings":false,
  "torch_dtype":"bfloat16","transformers_version":"4.34.0.dev0","use_cache":true,"vocab_size":32000})";
constexpr const char* kQwen25 = R"({"architectures":["Qwen2ForCausalLM"],"attention_dropout":0.0,"bos_token_id":151643,
  "eos_token_id":151645,"hidden_act":"silu","hidden_size":896,"initializer_range":0.02,"intermediate_size":4864,
  "max_position_embeddings":32768,"max_window_layers":21,"model_type":"qwen2","num_attention_heads":14,
  "num_hidden_layers":24,"num_key_value_heads":2,"rms_norm_eps":1e-06,"rope_theta":1000000.0,"sliding_window":32768,
  "tie_word_embeddings":true,"torch_dtype":"bfloat16","transformers_version":"4.43.1","use_cache":true,
  "use_mrope":false,"use_sliding_window":false,"vocab_size":151936})";
constexpr const char* kQwen3 = R"({"architectures":["Qwen3ForCausalLM"],"attention_bias":false,"attention_dropout":0.0,
  "bos_token_id":151643,"eos_token_id":151645,"head_dim":128,"hidden_act":"silu","hidden_size":1024,
  "initializer_range":0.02,"intermediate_size":3072,"max_position_embeddings":40960,"max_window_layers":28,
  "model_type":"qwen3","num_attention_heads":16,"num_hidden_layers":28,"num_key_value_heads":8,"rms_norm_eps":1e-06,
  "rope_scaling":null,"rope_theta":1000000,"sliding_window":null,"tie_word_embeddings":true,"torch_dtype":"bfloat16",
  "transformers_version":"4.51.0","use_cache":true,"use_sliding_window":false,"vocab_size":151936})";
constexpr const char* kGemma31b = R"({"architectures":["Gemma3ForCausalLM"],"attention_bias":false,
  "attention_dropout":0.0,"attn_logit_softcapping":null,"bos_token_id":2,"cache_implementation":"hybrid",
  "eos_token_id":[1,106],"final_logit_softcapping":null,"head_dim":256,"hidden_activation":"gelu_pytorch_tanh",
  "hidden_size":1152,"initializer_range":0.02,"intermediate_size":6912,"max_position_embeddings":32768,
  "model_type":"gemma3_text","num_attention_heads":4,"num_hidden_layers":26,"num_key_value_heads":1,"pad_token_id":0,
  "query_pre_attn_scalar":256,"rms_norm_eps":1e-06,"rope_local_base_freq":10000,"rope_scaling":null,
  "rope_theta":1000000,"sliding_window":512,"sliding_window_pattern":6,"torch_dtype":"bfloat16",
  "transformers_version":"4.50.0.dev0","use_cache":true,"vocab_size":262144})";
// The vocabulary of the 4B model is its class's default.
constexpr const char* kGemma34b = R"({"architectures":["Gemma3ForConditionalGeneration"],"boi_token_index":255999,
  "eoi_token_index":256000,"eos_token_id":[1,106],"image_token_index":262144,"initializer_range":0.02,
  "mm_tokens_per_image":256,"model_type":"gemma3","text_config":{"hidden_size":2560,"intermediate_size":10240,
  "model_type":"gemma3_text","num_hidden_layers":34,"rope_scaling":{"factor":8.0,"rope_type":"linear"},
  "sliding_window":1024},"torch_dtype":"bfloat16","transformers_version":"4.50.0.dev0",
  "vision_config":{"hidden_size":1152,"image_size":896,"intermediate_size":4304,"model_type":"siglip_vision_model",
  "num_attention_heads":16,"num_hidden_layers":27,"patch_size":14,"vision_use_head":false}})";

// As much of an index as a configuration asks for: the embedding, a head, the first norm of each layer.
Result<Checkpoint> index_for(const Json& config) {
  Checkpoint out;
  out.kind = ContainerKind::kSafetensors;
  HR_TRY_STATUS(flatten_config(config.dump(), "config.json", "", {}, out.metadata));
  const bool wrapped = config.contains("text_config");
  const Json& text = wrapped ? config["text_config"] : config;
  const std::string prefix = wrapped ? "language_model.model." : "model.";
  const auto add = [&](const std::string& name, std::vector<int64_t> shape) {
    out.by_name[name] = out.tensors.size();
    out.tensors.push_back({.name = name, .type = BlockType::kBF16, .shape = std::move(shape)});
  };
  const std::vector<int64_t> matrix{text.value("vocab_size", int64_t{262208}), text["hidden_size"]};
  add(prefix + "embed_tokens.weight", matrix);
  if (!text.value("tie_word_embeddings", true)) add("lm_head.weight", matrix);
  for (int64_t i = 0; i < text["num_hidden_layers"]; ++i)
    add(fmt::format("{}layers.{}.input_layernorm.weight", prefix, i), {matrix[1]});
  return out;
}

class HfPublished : public ::testing::TestWithParam<Published> {};

TEST_P(HfPublished, IsRead) {
  ASSERT_OK_AND_ASSIGN(const Checkpoint checkpoint, index_for(Json::parse(GetParam().config)));
  Warnings warnings;
  ASSERT_OK_AND_ASSIGN(const auto model, make_model(checkpoint, {}, warnings));
  for (const auto& [field, value] : GetParam().wanted) {
    const auto& config = model->config();
    const auto it = std::ranges::find(config, std::string(field), &ConfigEntry::name);
    ASSERT_NE(it, config.end()) << field;
    EXPECT_EQ(it->value, value) << field;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Configurations, HfPublished,
    ::testing::Values(
        Published{"SmolLM2_135M", kSmolLm2, {{"kv_heads", "3"}, {"head_width", "64"}, {"rope_base", "100000"}}},
        Published{"Llama_3_2_1B", kLlama32, {{"rope_factor", "32"}, {"tied_head", "yes"}, {"head_width", "64"}}},
        Published{"TinyLlama_1_1B", kTinyLlama, {{"kv_heads", "4"}, {"tied_head", "no"}, {"norm_eps", "1e-05"}}},
        Published{"Mistral_7B_v0_1", kMistral01, {{"window", "4096"}, {"kv_heads", "8"}, {"head_width", "128"}}},
        Published{"Qwen2_5_0_5B", kQwen25, {{"head_width", "64"}, {"kv_heads", "2"}, {"rope_base", "1000000"}}},
        Published{"Qwen3_0_6B", kQwen3, {{"head_width", "128"}, {"context", "40960"}}},
        Published{"Gemma_3_1B", kGemma31b, {{"window", "512"}, {"global_layer_period", "6"}, {"tied_head", "yes"}}},
        Published{"Gemma_3_4B",
                  kGemma34b,
                  {{"heads", "8"}, {"kv_heads", "4"}, {"head_width", "256"}, {"rope_linear_factor", "8"}}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace headrace
