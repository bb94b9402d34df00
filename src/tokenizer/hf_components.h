// The steps that a tokenizer.json names: normalizers, pre-tokenizers, decoders (huggingface.co/docs/tokenizers,
// "Components"). A step that is not known, or a member of one, is refused by name. Null is a value of all three.
#pragma once

#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tokenizer/decoder_steps.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/pretokenizer.h"

namespace headrace {

struct HfPretokenizer {
  std::vector<SplitterStage> stages;
  bool byte_level = false;  // words are spelt in GPT-2's alphabet after all stages
};

// Errors of all: kConfigUnsupported, kConfigValue.
[[nodiscard]] Result<Normalizers> make_hf_normalizers(const nlohmann::json& json);
[[nodiscard]] Result<HfPretokenizer> make_hf_pretokenizer(const nlohmann::json& json);
[[nodiscard]] Result<std::vector<DecoderStep>> make_hf_decoder(const nlohmann::json& json);

}  // namespace headrace
