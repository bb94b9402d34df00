#include "tools/chat_session.h"

#include "tools/text.h"

namespace headrace::tools {
namespace {

constexpr std::string_view kMark = "> ";

Json turn_json(std::string_view message, const Conversation::Turn& turn) {
  return {{"message", as_utf8(message)},       {"prompt", turn.prompt},
          {"reused_tokens", turn.reused},      {"tokens", turn.answer.tokens},
          {"text", as_utf8(turn.answer.text)}, {"first_token_seconds", turn.answer.first_token_seconds},
          {"seconds", turn.answer.seconds},    {"engine_seconds", turn.answer.engine_seconds}};
}

}  // namespace

std::string times_text(const Answer& answer) {
  const double rest = answer.seconds - answer.first_token_seconds;
  const std::string rate =
      answer.tokens.size() > 1 && rest > 0
          ? fmt::format(", then {:.3g} tokens/s", static_cast<double>(answer.tokens.size() - 1) / rest)
          : "";
  return fmt::format("{} tokens in {}, the first after {}{}", answer.tokens.size(), duration_text(answer.seconds),
                     duration_text(answer.first_token_seconds), rate);
}

Status run_session(Conversation& conversation, Keyboard& keyboard, const AnswerOptions& options, Output& output) {
  const bool terminal = Keyboard::at_terminal() && !output.json();
  Json turns = Json::array();
  AnswerOptions each = options;
  each.go_on = [&keyboard] { return !keyboard.interrupted(); };
  each.on_text = [&output](std::string_view text) {
    if (!output.json()) output.text(text);
    return !output.closed();
  };
  while (!output.closed()) {
    if (terminal) output.text(kMark);
    const auto message = keyboard.line();
    if (!message) break;
    if (message->empty()) continue;
    const auto turn = conversation.say(*message, each);
    if (!turn && !terminal) return fail(turn.error());
    if (!output.json()) output.text("\n");
    if (!turn) {
      output.error(slug(turn.error().code), turn.error().message);
      continue;
    }
    if (output.json()) turns.push_back(turn_json(*message, *turn));
    if (terminal)
      output.note("({}; {} of {} prompt tokens were held)", times_text(turn->answer), turn->reused,
                  turn->prompt.size());
  }
  if (terminal) output.text("\n");
  if (output.json()) output.document({{"turns", std::move(turns)}});
  return {};
}

}  // namespace headrace::tools
