// One safetensors file beside a config.json of ours, as far as `headrace inspect` goes.
#include "exporter/export.h"
#include "target.h"

namespace {
constexpr std::string_view kConfig = R"({"architectures":["LlamaForCausalLM"],"model_type":"llama","hidden_size":4,)"
                                     R"("intermediate_size":4,"num_hidden_layers":1,"num_attention_heads":2,)"
                                     R"("num_key_value_heads":1,"head_dim":2,"max_position_embeddings":8,)"
                                     R"("rms_norm_eps":1e-5,"rope_theta":10000.0,"hidden_act":"silu",)"
                                     R"("tie_word_embeddings":true,"vocab_size":6})";
}  // namespace

HR_FUZZ_TARGET(safetensors) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  static_cast<void>(fuzz::put_file("config.json", kConfig));
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
  }
  const fuzz::MemoryBound bound(input.size());
  static_cast<void>(inspect_model(path));
}
