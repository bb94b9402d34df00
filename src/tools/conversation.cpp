#include "tools/conversation.h"

#include <algorithm>
#include <ctime>

#include "formats/file.h"
#include "tools/interrupt.h"

namespace headrace::tools {

std::tm local_time() {
  const std::time_t seconds = std::time(nullptr);
  std::tm out{};
  localtime_r(&seconds, &out);
  return out;
}

Result<ChatJson> read_chat_json(const std::string& path) {
  HR_TRY(const InputFile file, InputFile::open(path));
  HR_TRY(const std::string text, file.read_text(0, file.size_bytes()));
  return parse_chat_json(text, path);
}

Result<Conversation> Conversation::make(Decoder<float> decoder, Tokenizer tokenizer, ChatTemplates templates,
                                        Sampler sampler, ChatJson tools) {
  Conversation out(std::move(decoder), std::move(tokenizer), std::move(templates), sampler, std::move(tools));
  if (const auto chat = out.chosen(); !chat) return fail(chat.error());
  return out;
}

void Conversation::add(std::string_view role, std::string_view content) {
  messages_.push_back({{"role", role}, {"content", content}});
}

Result<Conversation::Turn> Conversation::answer_messages(const AnswerOptions& options) {
  Turn turn;
  HR_TRY(const ChatTemplate* const chat, chosen());
  HR_TRY(const std::string prompt,
         render_chat(*chat, templates_,
                     {.messages = messages_, .tools = tools_, .variables = variables, .now = local_time()}));
  HR_TRY(turn.prompt, tokenizer_->encode(prompt, {.add_special = false, .parse_special = true}));
  const auto same = std::ranges::mismatch(held_, turn.prompt);
  if (same.in1 != held_.end() || held_.size() >= turn.prompt.size()) {
    decoder_.clear();
    held_.clear();
  }
  turn.reused = held_.size();
  const std::vector<int64_t> fresh(turn.prompt.begin() + static_cast<ptrdiff_t>(turn.reused), turn.prompt.end());
  // So that compiling is not in the times.
  if (held_.empty()) {
    HR_TRY(turn.prepare_seconds, load_guarded(loading, [&] {
             return decoder_.prepare(static_cast<int64_t>(turn.prompt.size()), options.max_tokens - 1);
           }));
  }
  auto answered = answer(decoder_, tokenizer_, sampler_, fresh, held_, options);
  if (!answered) {
    decoder_.clear();
    held_.clear();
    return fail(std::move(answered).error());
  }
  turn.answer = *std::move(answered);
  return turn;
}

Result<Conversation::Turn> Conversation::say(std::string_view message, const AnswerOptions& options) {
  add("user", message);
  auto turn = answer_messages(options);
  if (turn) {
    add("assistant", turn->answer.text);
  } else {
    messages_.erase(messages_.size() - 1);
  }
  return turn;
}

}  // namespace headrace::tools
