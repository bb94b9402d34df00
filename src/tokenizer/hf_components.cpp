#include "tokenizer/hf_components.h"

#include <string>
#include <utility>

#include "tokenizer/base64.h"
#include "tokenizer/hf_member.h"
#include "tokenizer/utf8.h"

namespace headrace {
namespace {

using Json = nlohmann::json;

// A pattern, {"String": s} or {"Regex": r}: what to look for, and whether as an expression.
struct Pattern {
  std::string text;
  bool is_regex{};
};
Result<Pattern> pattern_of(const HfStep& step) {
  const Json& json = step.member("pattern");
  if (json.is_object() && json.size() == 1 && json.begin()->is_string() &&
      (json.begin().key() == "String" || json.begin().key() == "Regex")) {
    Pattern pattern{.text = json.begin()->get<std::string>(), .is_regex = json.begin().key() == "Regex"};
    if (!pattern.text.empty()) return pattern;
  }
  return fail(ErrorCode::kConfigValue, "{}: pattern is neither a String nor a Regex, or empty", step.place());
}

// A text as a pattern that matches just it.
std::string literal_pattern(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c < 0 || c == ' ';
    if (c == '\n' || c == '\t' || c == '\r' || plain)
      out += c;
    else
      out += fmt::format("\\x{{{:x}}}", static_cast<unsigned>(c));
  }
  return out;
}

std::optional<NormalForm> normal_form(std::string_view type) {
  for (const auto& [name, form] : {std::pair{"NFC", NormalForm::kNfc},
                                   {"NFD", NormalForm::kNfd},
                                   {"NFKC", NormalForm::kNfkc},
                                   {"NFKD", NormalForm::kNfkd}})
    if (type == name) return form;
  return std::nullopt;
}

Result<std::unique_ptr<Normalizer>> make_hf_replace(const HfStep& step) {
  HR_TRY_STATUS(step.only({"pattern", "content"}));
  HR_TRY(const Pattern pattern, pattern_of(step));
  HR_TRY(std::string content, step.text("content"));
  if (!pattern.is_regex) return make_replace(pattern.text, std::move(content));
  HR_TRY(Regex regex, Regex::compile(pattern.text, step.place()));
  return make_replace(std::move(regex), std::move(content));
}

Result<std::unique_ptr<Normalizer>> make_hf_normalizer(const HfStep& step, const std::string& type) {
  if (const auto form = normal_form(type)) return make_normal_form(*form);
  if (type == "Lowercase") return make_lowercase();
  if (type == "StripAccents") return make_strip_accents();
  if (type == "Replace") return make_hf_replace(step);
  if (type == "Strip") {
    HR_TRY_STATUS(step.only({"strip_left", "strip_right"}));
    HR_TRY(const bool left, step.boolean("strip_left"));
    HR_TRY(const bool right, step.boolean("strip_right"));
    return make_strip(left, right);
  }
  if (type == "Prepend") {
    HR_TRY_STATUS(step.only({"prepend"}));
    HR_TRY(std::string prefix, step.text("prepend"));
    return make_prepend(std::move(prefix));
  }
  if (type == "Precompiled") {
    HR_TRY_STATUS(step.only({"precompiled_charsmap"}));
    HR_TRY(const std::string text, step.text("precompiled_charsmap", ""));
    const auto bytes = from_base64(text);
    if (!bytes) return fail(ErrorCode::kConfigValue, "{}: precompiled_charsmap is not base64", step.place());
    HR_TRY(Charsmap map, Charsmap::parse(*bytes, step.place()));
    return make_precompiled(std::move(map));
  }
  return step.unknown(type);
}

Result<SplitBehavior> behavior_of(const HfStep& step, std::optional<std::string> absent = {}) {
  HR_TRY(const std::string name, step.text("behavior", std::move(absent)));
  for (const auto& [known, behavior] : {std::pair{"Removed", SplitBehavior::kRemoved},
                                        {"Isolated", SplitBehavior::kIsolated},
                                        {"MergedWithPrevious", SplitBehavior::kMergedWithPrevious},
                                        {"MergedWithNext", SplitBehavior::kMergedWithNext},
                                        {"Contiguous", SplitBehavior::kContiguous}})
    if (name == known) return behavior;
  return fail(ErrorCode::kConfigUnsupported, "{}: behavior '{}' is not supported", step.place(), name);
}

Result<SplitterStage> split_by(std::string_view pattern, SplitBehavior behavior, const HfStep& step,
                               bool invert = false) {
  HR_TRY(Regex regex, Regex::compile(pattern, step.place()));
  return SplitStage{.regex = std::move(regex), .behavior = behavior, .invert = invert};
}

Result<SplitterStage> make_split(const HfStep& step) {
  HR_TRY_STATUS(step.only({"pattern", "behavior", "invert"}));
  HR_TRY(const Pattern pattern, pattern_of(step));
  HR_TRY(const SplitBehavior behavior, behavior_of(step));
  HR_TRY(const bool invert, step.boolean("invert", false));
  return split_by(pattern.is_regex ? pattern.text : literal_pattern(pattern.text), behavior, step, invert);
}

// The scheme of a Metaspace; files before version 0.14 say add_prefix_space instead.
Result<MetaspaceStage::Prepend> prepend_of(const HfStep& step) {
  HR_TRY(const bool prefix, step.boolean("add_prefix_space", true));
  HR_TRY(const std::string scheme, step.text("prepend_scheme", prefix ? "always" : "never"));
  if (scheme == "never" || !prefix) return MetaspaceStage::Prepend::kNever;
  if (scheme == "always") return MetaspaceStage::Prepend::kAlways;
  if (scheme == "first") return MetaspaceStage::Prepend::kFirst;
  return fail(ErrorCode::kConfigUnsupported, "{}: prepend_scheme '{}' is not supported", step.place(), scheme);
}

Result<SplitterStage> make_metaspace(const HfStep& step) {
  HR_TRY_STATUS(step.only({"replacement", "prepend_scheme", "add_prefix_space", "split", "str_rep"}));
  MetaspaceStage stage;
  HR_TRY(stage.replacement, step.text("replacement"));
  HR_TRY(stage.prepend, prepend_of(step));
  HR_TRY(stage.split, step.boolean("split", true));
  if (stage.replacement.empty() || utf8_length(stage.replacement.front()) != stage.replacement.size())
    return fail(ErrorCode::kConfigValue, "{}: replacement '{}' is not one character", step.place(), stage.replacement);
  return stage;
}

Status add_byte_level(const HfStep& step, HfPretokenizer& out) {
  HR_TRY_STATUS(step.only({"add_prefix_space", "trim_offsets", "use_regex"}));
  HR_TRY(const bool prefix, step.boolean("add_prefix_space"));
  HR_TRY(const bool use_regex, step.boolean("use_regex", true));
  if (prefix) out.stages.emplace_back(PrefixSpaceStage{});
  if (use_regex) {
    HR_TRY(auto stage, split_by(R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
                                SplitBehavior::kIsolated, step));
    out.stages.push_back(std::move(stage));
  }
  out.byte_level = true;
  return {};
}

Result<SplitterStage> make_stage(const HfStep& step, const std::string& type) {
  if (type == "Split") return make_split(step);
  if (type == "Metaspace") return make_metaspace(step);
  if (type == "Digits") {
    HR_TRY_STATUS(step.only({"individual_digits"}));
    HR_TRY(const bool individual, step.boolean("individual_digits", false));
    return split_by(R"(\p{N})", individual ? SplitBehavior::kIsolated : SplitBehavior::kContiguous, step);
  }
  if (type == "Punctuation") {
    HR_TRY_STATUS(step.only({"behavior"}));
    HR_TRY(const SplitBehavior behavior, behavior_of(step, "Isolated"));
    return split_by(R"([\p{P}\x21-\x2F\x3A-\x40\x5B-\x60\x7B-\x7E])", behavior, step);
  }
  if (type == "WhitespaceSplit") return split_by(R"(\s)", SplitBehavior::kRemoved, step);
  if (type == "Whitespace") {  // its \w is that of Rust's regex crate, which has the join controls in it
    constexpr std::string_view kWords = R"([\w\x{200C}\x{200D}]+|[^\w\s\x{200C}\x{200D}]+)";
    return split_by(kWords, SplitBehavior::kRemoved, step, /*invert=*/true);
  }
  if (type == "CharDelimiterSplit") {
    HR_TRY_STATUS(step.only({"delimiter"}));
    HR_TRY(const std::string delimiter, step.text("delimiter"));
    return split_by(literal_pattern(delimiter), SplitBehavior::kRemoved, step);
  }
  return step.unknown(type);
}

}  // namespace

Result<Normalizers> make_hf_normalizers(const Json& json) {
  Normalizers out;
  HR_TRY_STATUS(
      for_each_step(json, "normalizer", "normalizers", [&](const HfStep& step, const std::string& type) -> Status {
        HR_TRY(auto normalizer, make_hf_normalizer(step, type));
        out.push_back(std::move(normalizer));
        return {};
      }));
  return out;
}

Result<HfPretokenizer> make_hf_pretokenizer(const Json& json) {
  HfPretokenizer out;
  HR_TRY_STATUS(
      for_each_step(json, "pre_tokenizer", "pretokenizers", [&](const HfStep& step, const std::string& type) -> Status {
        // It respells the words, and what comes after would have to read that spelling.
        if (out.byte_level)
          return fail(ErrorCode::kConfigUnsupported, "{}: '{}' after 'ByteLevel' is not supported", step.place(), type);
        if (type == "ByteLevel") return add_byte_level(step, out);
        HR_TRY(auto stage, make_stage(step, type));
        out.stages.push_back(std::move(stage));
        return {};
      }));
  return out;
}

namespace {

Result<DecoderStep> make_decoder_step(const HfStep& step, const std::string& type, bool fused) {
  if (type == "ByteLevel") return ByteLevelStep{};
  if (type == "ByteFallback") return ByteFallbackStep{};
  if (type == "Replace") {
    HR_TRY_STATUS(step.only({"pattern", "content"}));
    HR_TRY(Pattern pattern, pattern_of(step));
    HR_TRY(std::string content, step.text("content"));
    if (pattern.is_regex)
      return fail(ErrorCode::kConfigUnsupported, "{}: a Regex in 'Replace' is not supported", step.place());
    return ReplaceStep{.from = std::move(pattern.text), .to = std::move(content)};
  }
  if (type == "Metaspace") {
    HR_TRY(const SplitterStage stage, make_metaspace(step));
    const auto& metaspace = std::get<MetaspaceStage>(stage);
    return MetaspaceStep{.replacement = metaspace.replacement,
                         .strip_first = metaspace.prepend != MetaspaceStage::Prepend::kNever};
  }
  if (type == "Strip") {
    constexpr int64_t kMost = 1000;
    HR_TRY_STATUS(step.only({"content", "start", "stop"}));
    HR_TRY(const std::string content, step.text("content"));
    HR_TRY(const int64_t start, step.integer("start", 0, kMost));
    HR_TRY(const int64_t stop, step.integer("stop", 0, kMost));
    if (content.empty()) return fail(ErrorCode::kConfigValue, "{}: content is empty", step.place());
    if (!fused)
      return StripStep{.content = content, .start = static_cast<size_t>(start), .stop = static_cast<size_t>(stop)};
    if (stop != 0)
      return fail(ErrorCode::kConfigUnsupported, "{}: stop {} after 'Fuse' is not supported", step.place(), stop);
    return StripTextStep{.content = content, .start = static_cast<size_t>(start)};
  }
  return step.unknown(type);
}

}  // namespace

Result<std::vector<DecoderStep>> make_hf_decoder(const Json& json) {
  std::vector<DecoderStep> out;
  if (json.is_null()) return std::vector<DecoderStep>{JoinStep{}};
  bool fused = false;
  HR_TRY_STATUS(for_each_step(json, "decoder", "decoders", [&](const HfStep& step, const std::string& type) -> Status {
    if (type == "Fuse") {
      fused = true;
      return {};
    }
    if (fused && type != "Strip")
      return fail(ErrorCode::kConfigUnsupported, "{}: '{}' after 'Fuse' is not supported", step.place(), type);
    HR_TRY(DecoderStep made, make_decoder_step(step, type, fused));
    out.push_back(std::move(made));
    return {};
  }));
  return out;
}

}  // namespace headrace
