// tokenizer.json, read so that its two long lists cost no JSON tree: half a million merges would take 150 MB of it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace headrace {

struct HfTokenizerJson {
  nlohmann::json root;  // all but model.vocab and model.merges
  // model.vocab: {"piece": id} or [["piece", score]], in file order; `scored` says which.
  std::vector<std::pair<std::string, double>> vocabulary;
  bool scored = false;
  // model.merges: "left right" or ["left", "right"], two strings for each.
  std::vector<std::string> merges;
};

// Messages start with `place: `. Errors: kConfigFile (no JSON object; a key repeated; more or deeper than any
// tokenizer), kConfigValue (a vocabulary or merges of another form).
[[nodiscard]] Result<HfTokenizerJson> parse_hf_tokenizer_json(std::string_view text, std::string_view place);

// A tokenizer.json again; vocabulary and merges a line each.
[[nodiscard]] std::string to_text(const HfTokenizerJson& json);

}  // namespace headrace
