// A chat over one decoder: messages in, answers out. What the caches hold already is not computed again.
#pragma once

#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "tokenizer/chat_template.h"
#include "tools/answer.h"

namespace headrace::tools {

class Conversation {
 public:
  // Errors: kChatTemplate when there is no template to choose.
  [[nodiscard]] static Result<Conversation> make(Decoder<float> decoder, Tokenizer tokenizer, ChatTemplates templates,
                                                 Sampler sampler, ChatJson tools = nullptr);

  // Variables for the template, such as enable_thinking.
  ChatJson variables = ChatJson::object();

  std::stop_source loading = {};  // what an interrupt while programs are compiled goes to

  void add(std::string_view role, std::string_view content);

  struct Turn {
    Answer answer;
    std::vector<int64_t> prompt;  // the whole conversation's tokens before the answer
    size_t reused{};              // of them, those that the caches held
    double prepare_seconds{};     // compiling, before the answer's clock started
  };
  // Answers a message of the user's. The prompt is what the template makes of all messages; where its tokens begin with
  // those in the caches only the rest is fed, otherwise the text begins anew. After an error the message is taken back.
  // Errors: kChatTemplate, those of Tokenizer::encode and answer().
  [[nodiscard]] Result<Turn> say(std::string_view message, const AnswerOptions& options);

 private:
  Conversation(Decoder<float> decoder, Tokenizer tokenizer, ChatTemplates templates, Sampler sampler, ChatJson tools)
      : decoder_(std::move(decoder)),
        tokenizer_(std::move(tokenizer)),
        templates_(std::move(templates)),
        sampler_(sampler),
        tools_(std::move(tools)) {}
  [[nodiscard]] Result<Turn> answer_messages(const AnswerOptions& options);
  // The template for these messages and tools.
  [[nodiscard]] Result<const ChatTemplate*> chosen() const { return templates_.choose({}, !tools_.is_null()); }

  Decoder<float> decoder_;
  std::optional<Tokenizer> tokenizer_;
  ChatTemplates templates_;
  Sampler sampler_;
  ChatJson messages_ = ChatJson::array();
  ChatJson tools_;             // null, or a list of the tools' schemas
  std::vector<int64_t> held_;  // the tokens in the decoder
};

// The local time, for strftime_now.
[[nodiscard]] std::tm local_time();

// A file of messages or tools. Errors: kIo, those of parse_chat_json.
[[nodiscard]] Result<ChatJson> read_chat_json(const std::string& path);

}  // namespace headrace::tools
