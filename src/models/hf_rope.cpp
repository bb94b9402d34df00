#include <cmath>
#include <numbers>

#include "formats/meta.h"
#include "models/decoder_config.h"

namespace headrace {

namespace {

// Where the values lie in this file.
struct Section {
  std::string base;     // key of theta
  std::string scaling;  // start of the other keys, with a dot; empty: none
};

std::string join_key(std::string_view section, std::string_view name) { return fmt::format("{}{}", section, name); }

Section find_section(ConfigReader& read, const HfRopeKeys& keys) {
  constexpr std::string_view kParameters = "rope_parameters.";
  const std::string own =
      keys.layer_type.empty() ? std::string(kParameters) : fmt::format("{}{}.", kParameters, keys.layer_type);
  if (!read.has_section(own))
    return {.base = std::string(keys.base), .scaling = keys.scaling.empty() ? "" : fmt::format("{}.", keys.scaling)};
  const std::string theta = join_key(own, "rope_theta");
  if (!read.has(theta)) return {.base = std::string(keys.base), .scaling = own};
  return {.base = theta, .scaling = own};
}

// The values of scaling that both spellings may hold: `type` in old files, `rope_type` since.
std::string scaling_type(ConfigReader& read, const std::string& section) {
  if (section.empty()) return "default";
  const auto rope_type = read.text(join_key(section, "rope_type"));
  const auto type = read.text(join_key(section, "type"));
  if (rope_type && type && *rope_type != *type)
    read.fault(ErrorCode::kConfigValue, "keys '{}' and '{}' differ: {} and {}", read.key(join_key(section, "type")),
               read.key(join_key(section, "rope_type")), describe({*type}), describe({*rope_type}));
  if (rope_type) return *rope_type;
  if (type) return *type;
  if (read.has_section(section) && read.has(join_key(section, "factor")))
    read.fault(ErrorCode::kConfigMissing, "key '{}' is missing", read.key(join_key(section, "rope_type")));
  return "default";
}

// Frequencies below a wavelength stay, those above another are divided by the factor, the ones between go over
// smoothly. Source: transformers, _compute_llama3_parameters. Divisors are rounded to f32, as llama.cpp's
// rope_freqs.weight are.
std::vector<float> llama3_divisors(ConfigReader& read, const std::string& section, const RopeConfig& rope) {
  const auto number = [&](const char* name) {
    return read.positive(fmt::format("rope_{}", name), join_key(section, name));
  };
  const double factor = number("factor");
  const double low = number("low_freq_factor");
  const double high = number("high_freq_factor");
  const double context = number("original_max_position_embeddings");
  if (read.good() && high <= low)
    read.fault(ErrorCode::kConfigValue, "key '{}' is {}, expected more than low_freq_factor, {}",
               read.key(join_key(section, "high_freq_factor")), high, low);
  std::vector<float> divisors;
  if (!read.good()) return divisors;  // nothing is sized by a width that may be wrong
  for (int64_t i = 0; i < rope.rotated / 2; ++i) {
    const double frequency = std::pow(rope.base, -2.0 * static_cast<double>(i) / static_cast<double>(rope.rotated));
    const double turns = context * frequency / (2 * std::numbers::pi);  // of the original context
    const double smooth = (turns - low) / (high - low);
    const double divisor = turns > high ? 1 : turns < low ? factor : 1 / ((1 - smooth) / factor + smooth);
    divisors.push_back(static_cast<float>(divisor));
  }
  return divisors;
}

// A width that the tensors do not bear out is refused before anything is sized by it.
void check_head_width(ConfigReader& read, const DecoderShape& shape) {
  const std::string name = read.source().names()(block_tensor(0, "attn_q"));
  const TensorEntry* q = read.source().checkpoint().find(name);
  if (!read.good() || q == nullptr || q->shape[0] == shape.heads * shape.head_width) return;
  read.fault(ErrorCode::kTensorLink, "tensor '{}' has {} rows, expected {} heads of {}", name, q->shape[0], shape.heads,
             shape.head_width);
}

void read_scaling(ConfigReader& read, const std::string& section, RopeConfig& out) {
  const std::string type = scaling_type(read, section);
  if (type == "default") return;
  if (type == "linear") {
    out.linear_factor = read.positive("rope_linear_factor", join_key(section, "factor"));
  } else if (type == "llama3") {
    out.divisors = llama3_divisors(read, section, out);
  } else {
    for (const auto& [key, value] : read.source().checkpoint().metadata)
      if (key.starts_with(read.key(section))) read.harmless(key.substr(read.source().key_prefix().size()));
    read.fault(ErrorCode::kConfigUnsupported, "RoPE of type {} (section '{}') is not supported", describe({type}),
               read.key(section.substr(0, section.size() - 1)));
  }
}

}  // namespace

RopeConfig read_hf_rope(ConfigReader& read, const DecoderShape& shape, const HfRopeKeys& keys) {
  RopeConfig out;
  out.pairing = RopePairing::kHalf;
  out.rotated = shape.head_width;
  const std::string field = keys.layer_type.empty() ? "rope" : fmt::format("rope_{}", keys.layer_type);
  read.record(field + "_pairing", "half", "row order of q and k in Hugging Face checkpoints");
  if (read.good() && shape.head_width % 2 != 0)
    read.fault(ErrorCode::kConfigValue, "heads are {} wide, expected an even number", shape.head_width);
  check_head_width(read, shape);
  const Section section = find_section(read, keys);
  out.base = read.positive(field + "_base", section.base);
  // Files written by both generations may hold both; then they must agree.
  if (section.base != keys.base) read.only(keys.base, out.base);
  const std::string older = fmt::format("{}.", keys.scaling);
  if (!keys.scaling.empty() && section.scaling != older) read.same_twins(older, section.scaling);
  if (!section.scaling.empty()) read.only(join_key(section.scaling, "partial_rotary_factor"), 1);
  read_scaling(read, section.scaling, out);
  return out;
}

}  // namespace headrace
