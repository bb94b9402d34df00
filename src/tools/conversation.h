// A chat over one decoder: messages in, answers out. What the caches hold already is not computed again.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tokenizer/chat_template.h"
#include "tools/answer.h"

namespace headrace::tools {

class Conversation {
 public:
  // Errors: kChatTemplate when there is no default template.
  [[nodiscard]] static Result<Conversation> make(Decoder<float> decoder, Tokenizer tokenizer, ChatTemplates templates,
                                                 Sampler sampler);

  // Variables for the template, such as enable_thinking.
  ChatJson variables = ChatJson::object();

  void add(std::string_view role, std::string_view content);

  struct Turn {
    Answer answer;
    std::vector<int64_t> prompt;  // the whole conversation's tokens before the answer
    size_t reused{};              // of them, those that the caches held
  };
  // Answers a message of the user's. The prompt is what the template makes of all messages; where its tokens begin with
  // those in the caches only the rest is fed, otherwise the text begins anew. After an error the message is taken back.
  // Errors: kChatTemplate, those of Tokenizer::encode and answer().
  [[nodiscard]] Result<Turn> say(std::string_view message, const AnswerOptions& options);

 private:
  Conversation(Decoder<float> decoder, Tokenizer tokenizer, ChatTemplates templates, Sampler sampler)
      : decoder_(std::move(decoder)),
        tokenizer_(std::move(tokenizer)),
        templates_(std::move(templates)),
        sampler_(sampler) {}
  [[nodiscard]] Result<Turn> answer_messages(const AnswerOptions& options);

  Decoder<float> decoder_;
  std::optional<Tokenizer> tokenizer_;
  ChatTemplates templates_;
  Sampler sampler_;
  ChatJson messages_ = ChatJson::array();
  std::vector<int64_t> held_;  // the tokens in the decoder
};

// The local time, for strftime_now.
[[nodiscard]] std::tm local_time();

}  // namespace headrace::tools
