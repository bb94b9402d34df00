// A conversation at a terminal, or over standard input and output.
#pragma once

#include "tools/conversation.h"
#include "tools/keyboard.h"
#include "tools/output.h"

namespace headrace::tools {

// Reads messages, a line each, until the end of input, and answers them. Ctrl-C ends an answer; at the prompt it ends
// the session. Marks and times are for terminals: what goes into a pipe is the answers, a line end after each.
[[nodiscard]] Status run_session(Conversation& conversation, Keyboard& keyboard, const AnswerOptions& options,
                                 Output& output);

// The end of an answer, and how fast it came, for people.
[[nodiscard]] std::string times_text(const Answer& answer);

}  // namespace headrace::tools
