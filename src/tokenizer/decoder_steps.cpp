#include "tokenizer/decoder_steps.h"

#include "tokenizer/byte_alphabet.h"

namespace headrace {
namespace {

std::string replaced(std::string_view text, std::string_view from, std::string_view to) {
  std::string out;
  while (true) {
    const size_t found = text.find(from);
    out += text.substr(0, found);
    if (found == std::string_view::npos) return out;
    out += to;
    text.remove_prefix(found + from.size());
  }
}

struct Apply {
  std::string text;
  DecoderState& state;

  void operator()(const ByteLevelStep& /*step*/) {
    if (auto bytes = from_byte_alphabet(text)) text = *std::move(bytes);
  }
  void operator()(const ByteFallbackStep& /*step*/) {
    if (const auto byte = byte_of_piece(text)) text = std::string(1, static_cast<char>(*byte));
  }
  void operator()(const ReplaceStep& step) { text = replaced(text, step.from, step.to); }
  void operator()(const MetaspaceStep& step) {
    text = replaced(text, step.replacement, step.strip_first && state.first ? "" : " ");
  }
  void operator()(const StripStep& step) {
    std::string_view rest = text;
    for (size_t i = 0; i < step.start && rest.starts_with(step.content); ++i) rest.remove_prefix(step.content.size());
    for (size_t i = 0; i < step.stop && rest.ends_with(step.content); ++i) rest.remove_suffix(step.content.size());
    text = std::string(rest);
  }
  void operator()(const StripTextStep& step) {
    std::string_view rest = text;
    while (!state.text_begun && state.stripped < step.start && rest.starts_with(step.content)) {
      rest.remove_prefix(step.content.size());
      ++state.stripped;
    }
    if (!rest.empty()) state.text_begun = true;
    text = std::string(rest);
  }
  void operator()(const JoinStep& /*step*/) {
    if (!state.first) text.insert(0, 1, ' ');
  }
};

}  // namespace

std::string spell(const std::vector<DecoderStep>& steps, std::string_view piece, DecoderState& state) {
  Apply apply{.text = std::string(piece), .state = state};
  for (const DecoderStep& step : steps) std::visit(apply, step);
  state.first = false;
  return std::move(apply.text);
}

}  // namespace headrace
