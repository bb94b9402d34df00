// One safetensors file beside a config.json of ours, as far as `headrace inspect` goes.
#include "exporter/export.h"
#include "link.h"
#include "target.h"

namespace {

// The type of the tiny model that a file holds, told by a tensor that those below have not.
struct Dialect {
  std::string_view mark;
  std::string_view model_type;
  std::string_view more;  // members of its config.json
};
constexpr Dialect kDialects[] = {
    {"pre_feedforward_layernorm", "gemma3_text",
     R"("hidden_activation":"gelu_pytorch_tanh","query_pre_attn_scalar":2,"sliding_window":2,)"
     R"("layer_types":["sliding_attention"],"tie_word_embeddings":true)"},
    {"q_norm", "qwen3", R"("hidden_act":"silu","tie_word_embeddings":true)"},
    {"q_proj.bias", "qwen2", R"("hidden_act":"silu","tie_word_embeddings":true)"},
    {"lm_head", "mistral", R"("hidden_act":"silu","sliding_window":3,"tie_word_embeddings":false)"},
    {"", "llama", R"("hidden_act":"silu","tie_word_embeddings":true)"},
};
constexpr std::string_view kShape = R"("hidden_size":4,"intermediate_size":4,"num_hidden_layers":1,)"
                                    R"("num_attention_heads":2,"num_key_value_heads":1,"head_dim":2,)"
                                    R"("max_position_embeddings":8,"rms_norm_eps":1e-5,"rope_theta":10000.0,)"
                                    R"("vocab_size":6)";

std::string config_of(std::string_view file) {
  const Dialect* dialect = std::begin(kDialects);
  while (file.find(dialect->mark) == std::string_view::npos) ++dialect;  // the last has no mark
  std::string text = fmt::format(R"({{"model_type":"{}",{},{}}})", dialect->model_type, dialect->more, kShape);
  if (file.find("language_model.") == std::string_view::npos) return text;
  return fmt::format(R"({{"model_type":"wrapper","text_config":{},"vision_config":{{"hidden_size":8}}}})", text);
}

}  // namespace

HR_FUZZ_TARGET(safetensors) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  static_cast<void>(fuzz::put_file("config.json", config_of(fuzz::text_of(input))));
  static_cast<void>(fuzz::put_file("generation_config.json", "{}"));
  static_cast<void>(fuzz::put_file("tokenizer_config.json", "{}"));
  const std::string path = fuzz::put_file("one.safetensors", fuzz::text_of(input));
  {
    const fuzz::MemoryBound bound(input.size());
    Warnings warnings;
    const auto checkpoint = open_checkpoint(path, warnings);
    if (!checkpoint) return;
    for (const TensorEntry& tensor : checkpoint->tensors) {
      fuzz::expect(tensor.offset_bytes <= input.size() && tensor.length_bytes <= input.size() - tensor.offset_bytes,
                   "a tensor lies outside the file");
      fuzz::expect(!tensor.shape.empty(), "a tensor has no shape");
    }
    fuzz::link_model(*checkpoint);
  }
  const fuzz::MemoryBound bound(input.size(), 4, fuzz::kTracedBytes);
  static_cast<void>(inspect_model(path));
}
