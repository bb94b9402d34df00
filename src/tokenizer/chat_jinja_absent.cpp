// A build without the template engine (cmake/headrace_jinja.cmake) refuses every template.
#ifndef HEADRACE_CHAT_TEMPLATES
#include <string_view>

#include "tokenizer/chat_jinja.h"

extern "C" headrace_jinja_result headrace_jinja_render(headrace_jinja_text /*source*/, headrace_jinja_text /*context*/,
                                                       const headrace_jinja_options* /*options*/) {
  static constexpr std::string_view kMessage = "this headrace was built without chat templates";
  return {.status = HEADRACE_JINJA_INTERNAL, .text = {.data = kMessage.data(), .size = kMessage.size()}, .line = 0};
}

extern "C" void headrace_jinja_free(headrace_jinja_text /*text*/) {}
#endif
