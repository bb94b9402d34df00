#include "models/hf_config.h"

#include <algorithm>

#include "formats/meta.h"

namespace headrace {

namespace {

struct KeyName {
  std::string_view ours;
  std::string_view hf;
};
constexpr KeyName kKeys[] = {
    {"block_count", "num_hidden_layers"},
    {"context_length", "max_position_embeddings"},
    {"embedding_length", "hidden_size"},
    {"feed_forward_length", "intermediate_size"},
    {"attention.layer_norm_rms_epsilon", "rms_norm_eps"},
    {"attention.head_count", "num_attention_heads"},
    {"attention.head_count_kv", "num_key_value_heads"},
    {"attention.key_length", "head_dim"},
    {"attention.sliding_window", "sliding_window"},
};

// What PretrainedConfig of transformers 4 and 5 writes into any configuration without an effect on the forward pass of
// evaluation: identity, storage, training, generation, and switches of the implementation.
constexpr std::string_view kHarmless[] = {
    "_attn_implementation",
    "_attn_implementation_autoset",
    "_commit_hash",
    "_flash_attn_2_enabled",
    "_name_or_path",
    "architectures",
    "attention_dropout",
    "attn_implementation",
    "auto_map",
    "bad_words_ids",
    "begin_suppress_tokens",
    "bos_token_id",
    "cache_implementation",
    "chunk_size_feed_forward",
    "classifier_dropout",
    "cross_attention_hidden_size",
    "decoder_start_token_id",
    "diversity_penalty",
    "do_sample",
    "dtype",
    "early_stopping",
    "encoder_no_repeat_ngram_size",
    "eos_token_id",
    "exponential_decay_length_penalty",
    "finetuning_task",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "gradient_checkpointing",
    "id2label",
    "initializer_range",
    "is_composition",
    "is_decoder",
    "label2id",
    "length_penalty",
    "loss_type",
    "max_length",
    "max_new_tokens",
    "max_sequence_length",
    "min_length",
    "model_max_length",
    "model_type",
    "neftune_noise_alpha",
    "no_repeat_ngram_size",
    "num_beam_groups",
    "num_beams",
    "num_labels",
    "num_logits_to_keep",
    "num_return_sequences",
    "output_attentions",
    "output_hidden_states",
    "output_scores",
    "pad_token_id",
    "prefix",
    "pretraining_tp",
    "problem_type",
    "pruned_heads",
    "remove_invalid_values",
    "repetition_penalty",
    "return_dict",
    "return_dict_in_generate",
    "sep_token_id",
    "suppress_tokens",
    "task_specific_params",
    "temperature",
    "tf_legacy_loss",
    "tokenizer_class",
    "tokenizer_model_max_length",
    "tokenizer_padding_side",
    "top_k",
    "top_p",
    "torch_dtype",
    "torchscript",
    "transformers_version",
    "typical_p",
    "unk_token_id",
    "unsloth_fixed",
    "unsloth_version",
    "use_bfloat16",
    "use_cache",
    "use_flash_attn",
    // Not the configuration's own: what the reader adds of the files beside it.
    "generation_config",
    "tokenizer_config",
};

constexpr HfValue kCommonOnly[] = {
    {"add_cross_attention", false}, {"attention_bias", false},   {"is_encoder_decoder", false},  {"mlp_bias", false},
    {"partial_rotary_factor", 1.0}, {"rope_interleaved", false}, {"tie_encoder_decoder", false}, {"use_mrope", false},
    {"use_sliding_window", false},
};

constexpr std::string_view kTextConfig = "text_config.";

// Numbers that are stored otherwise than their tensors say.
Status check_unquantised(const Checkpoint& checkpoint) {
  for (const std::string_view place : {"", "text_config."})
    for (const std::string_view section : {"quantization_config", "compression_config"}) {
      const std::string key = fmt::format("{}{}", place, section);
      if (meta_section(checkpoint, key + ".") != nullptr)
        return fail(ErrorCode::kConfigUnsupported,
                    "key '{}': checkpoints quantised by other programs are not supported", key);
    }
  return {};
}

// A wrapper has a flag of its own for what its text model says too.
Status check_wrapper(const Checkpoint& checkpoint) {
  constexpr std::string_view kTied = "tie_word_embeddings";
  const auto flag = [&](const std::string& key) -> Result<std::optional<bool>> {
    const auto it = checkpoint.metadata.find(key);
    const bool is_null = it != checkpoint.metadata.end() && std::holds_alternative<std::monostate>(it->second.value);
    return is_null ? Result<std::optional<bool>>(std::nullopt) : meta_bool(checkpoint, key);
  };
  HR_TRY(const auto outer, flag(std::string(kTied)));
  HR_TRY(const auto inner, flag(fmt::format("{}{}", kTextConfig, kTied)));
  if (outer && inner && *outer != *inner)
    return fail(ErrorCode::kConfigUnsupported, "key '{0}' is {1}, but '{2}{0}' is {3}", kTied, *outer, kTextConfig,
                *inner);
  return {};
}

}  // namespace

Result<HfPlace> find_hf_config(const Checkpoint& checkpoint) {
  HR_TRY_STATUS(check_unquantised(checkpoint));
  HfPlace place;
  if (meta_section(checkpoint, kTextConfig) != nullptr) {
    place.prefix = kTextConfig;
    HR_TRY_STATUS(check_wrapper(checkpoint));
  }
  HR_TRY(auto type, meta_string(checkpoint, place.prefix + "model_type"));
  if (!type) return fail(ErrorCode::kArchitecture, "key '{}model_type' is missing from config.json", place.prefix);
  place.model_type = *std::move(type);
  return place;
}

std::string_view hf_key(std::string_view ours) {
  const auto* const it =
      std::find_if(std::begin(kKeys), std::end(kKeys), [&](const KeyName& k) { return k.ours == ours; });
  return it == std::end(kKeys) ? ours : it->hf;
}

std::span<const HfValue> common_only() { return kCommonOnly; }

bool is_harmless_hf_key(std::string_view key) {
  const std::string_view top = key.substr(0, key.find('.'));
  return std::find(std::begin(kHarmless), std::end(kHarmless), top) != std::end(kHarmless);
}

MetaValue meta_value(const HfValue& value) {
  return std::visit(
      [](const auto& v) -> MetaValue {
        if constexpr (std::is_same_v<std::decay_t<decltype(v)>, std::string_view>)
          return {std::string(v)};
        else
          return {v};
      },
      value.value);
}

}  // namespace headrace
