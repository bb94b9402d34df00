#include "tokenizer/chat_template.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/testing.h"

namespace headrace {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::IsError;
using testing::IsOk;

// tests/chat/make_goldens.py writes these files, by Python's jinja2.
const std::string kData = std::string(HEADRACE_TESTDATA) + "/chat/";

std::string slurp(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

ChatJson read(const std::string& path) {
  auto out = parse_chat_json(slurp(path), path);
  EXPECT_THAT(out, IsOk());
  return out.value_or(ChatJson());
}

std::tm golden_time() {
  std::tm out{};
  out.tm_year = 125;
  out.tm_mon = 2;
  out.tm_mday = 9;
  out.tm_hour = 14;
  out.tm_min = 5;
  out.tm_sec = 7;
  out.tm_yday = 67;
  return out;
}

Result<std::string> render(const std::string& source, const ChatJson& variables = ChatJson::object()) {
  const ChatTemplate chat{.name = "default", .source = source, .origin = "here"};
  return render_chat(chat, {}, {.variables = variables, .now = golden_time()});
}

TEST(ChatTemplate, PromptsAreThoseOfPythonsJinja2) {
  size_t compared = 0;
  const ChatJson goldens = read(kData + "goldens.json");
  for (const ChatJson& golden : goldens["prompts"]) {
    const auto name = golden["template"].get<std::string>();
    const ChatJson request = read(kData + "requests/" + golden["request"].get<std::string>() + ".json");
    ChatTemplates from;
    for (const auto& [token, text] : request["special_tokens"].items()) from.special_tokens[token] = text;
    const ChatTemplate chat{.name = "default", .source = slurp(kData + "templates/" + name), .origin = name};
    const auto prompt = render_chat(chat, from,
                                    {.messages = request["messages"],
                                     .tools = request.value("tools", ChatJson()),
                                     .add_generation_prompt = request.value("add_generation_prompt", true),
                                     .variables = request.value("variables", ChatJson::object()),
                                     .now = golden_time()});
    if (golden["prompt"].is_null()) {
      EXPECT_THAT(prompt, IsError(ErrorCode::kChatTemplate, HasSubstr(name + ": line ")));
      continue;
    }
    ASSERT_THAT(prompt, IsOk()) << name << " " << golden["request"];
    EXPECT_EQ(*prompt, golden["prompt"].get<std::string>()) << name << " " << golden["request"];
    ++compared;
  }
  EXPECT_GE(compared, 12 * 6);
}

TEST(ChatTemplate, ExpressionsAreThoseOfPythonsJinja2) {
  const ChatJson goldens = read(kData + "goldens.json");
  for (const ChatJson& golden : goldens["expressions"]) {
    const auto expression = golden["expression"].get<std::string>();
    const auto text = render("{{ " + expression + " }}", goldens["variables"]);
    if (golden["text"].is_null()) {
      EXPECT_FALSE(text) << expression;
    } else {
      ASSERT_THAT(text, IsOk()) << expression;
      EXPECT_EQ(*text, golden["text"].get<std::string>()) << expression;
    }
  }
}

TEST(ChatTemplate, ErrorsAreOneLineWithTheTemplatesLine) {
  const auto error = [](const std::string& source, const std::string& part) {
    const auto text = render(source);
    EXPECT_THAT(text, IsError(ErrorCode::kChatTemplate, HasSubstr(part))) << source;
    if (!text) {
      EXPECT_EQ(text.error().message.find('\n'), std::string::npos) << source;
    }
  };
  error("a\n{% if %}", "here: line 2: syntax error");
  error("\n\n{{ raise_exception('roles must\nalternate') }}",
        "here: line 3: the template refuses the messages: roles must alternate");
  error("{% macro m() %}\n{{ raise_exception('inside') }}\n{% endmacro %}\n{{ m() }}", "here: line 2");
  error("{{ messages[0].content }}", "here: line 1");
  error("{{ 1 + 'a' }}", "unsupported types");
  error("{{ x | nosuch }}", "unknown filter: nosuch");
  error("{{ 'x'.nosuch() }}", "nosuch");
  error("{{ nosuch() }}", "nosuch");
  error("{% include 'other' %}", "syntax error");
  error("{{ {[1]: 2} }}", "as a key");
  error("{% set x = 2 %}{{ 1 < x < 3 }}", "chained comparisons");
  error("{% set x = [] %}{{ x < {} }}", "have no order");
  error("{{ missing | tojson }}", "no JSON");
}

// Each would take for ever, or all memory, if the engine let it.
TEST(ChatTemplate, HostileTemplatesEnd) {
  const std::string tree =
      "{% set n = namespace(x=[1], y=[1]) %}{% for i in range(60) %}{% set n.x = [n.x, n.x] %}"
      "{% set n.y = [n.y, n.y] %}{% endfor %}";
  const std::vector<std::string> bodies = {
      "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}",
      "{% macro f(x) %}{{ f(x) ~ f(x) }}{% endmacro %}{{ f(1) }}",
      "{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x ~ n.x %}{% endfor %}",
      "{% set n = namespace(x='ab') %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}",
      "{% set n = namespace(x=[1]) %}{% for i in range(60) %}{% set n.x = n.x + n.x %}{% endfor %}{{ n.x | length }}",
      "{{ 'x' * 1000000000 }}",
      "{{ 'x' | indent(1000000000) }}",
      "{{ '{:>1000000000}'.format(1) }}",
      "{{ ('a' * 100000).replace('a', 'b' * 100000) }}",
      "{% set n = namespace(x=1) %}{% for i in range(99999) %}{% set n.x = [n.x] %}{% endfor %}{{ n.x }}",
      "{{ " + std::string(100000, '(') + "1" + std::string(100000, ')') + " }}",
      "{{ 1" + std::string(100000, '-') + "1 }}",
      tree + "{{ n.x }}",
      tree + "{{ n.x ~ '' }}",
      tree + "{{ n.x == n.y }}",
      tree + "{{ n.x in [n.y] }}",
      tree + "{{ n.x | string }}",
      tree + "{{ n.x | tojson }}",
      tree + "{{ [n.x] | join }}",
      tree + "{{ ''.join([n.x]) }}",
      tree + "{{ [n.x, n.y] | sort }}",
      tree + "{{ [n.x, n.y] | unique | list }}",
      tree + "{{ '%s' | format(n.x) }}",
      tree + "{{ n.x | pprint }}",
      tree + "{{ [n.x] | select('eq', n.y) | list }}",
      tree + "{{ [n.x] | map('upper') | list }}",
      tree + "{{ raise_exception(n.x) }}",
  };
  for (const std::string& body : bodies)
    EXPECT_THAT(render(body), IsError(ErrorCode::kChatTemplate, HasSubstr("here: line "))) << body.substr(0, 300);
  std::string nested;
  for (int i = 0; i < 20000; ++i) nested += "{% if 1 %}";
  EXPECT_THAT(render(nested), IsError(ErrorCode::kChatTemplate, HasSubstr("recursion")));
  EXPECT_THAT(render(std::string(2'000'000, 'x')), IsError(ErrorCode::kChatTemplate, HasSubstr("2000000 bytes")));
}

TEST(ChatTemplate, LongConversationsAreNoHostility) {
  ChatRequest request;
  for (int i = 0; i < 1000; ++i)
    request.messages.push_back({{"role", i % 2 == 0 ? "user" : "assistant"}, {"content", std::string(1000, 'x')}});
  for (const char* name : {"chatml.jinja", "thinking.jinja", "instruct.jinja", "headers.jinja"}) {
    const ChatTemplate chat{.name = "default", .source = slurp(kData + "templates/" + name), .origin = name};
    const auto prompt = render_chat(chat, {}, request);
    ASSERT_THAT(prompt, IsOk()) << name;
    EXPECT_GT(prompt->size(), 1'000'000U) << name;
  }
}

TEST(ChatTemplate, TextsThatAreNoUtf8AreRefused) {
  EXPECT_THAT(render("\xff"), IsError(ErrorCode::kChatTemplate, HasSubstr("the template is not UTF-8")));
  EXPECT_THAT(render("", {{"x", "\xff"}}), IsError(ErrorCode::kChatTemplate, HasSubstr("not UTF-8")));
}

TEST(ChatTemplate, ChoosesAsTransformersDoes) {
  const ChatTemplate plain{.name = "default", .source = "d", .origin = ""};
  const ChatTemplate tools{.name = "tool_use", .source = "t", .origin = ""};
  const ChatTemplates both{.templates = {plain, tools}, .special_tokens = {}};
  const auto chosen = [&both](std::optional<std::string_view> name, bool has_tools) {
    const auto chat = both.choose(name, has_tools);
    return chat ? (*chat)->name : "none";
  };
  EXPECT_EQ(chosen({}, false), "default");
  EXPECT_EQ(chosen({}, true), "tool_use");
  EXPECT_EQ(chosen("tool_use", false), "tool_use");
  EXPECT_THAT(both.choose("rag", false),
              IsError(ErrorCode::kChatTemplate, AllOf(HasSubstr("'rag'"), HasSubstr("default, tool_use"))));
  EXPECT_THAT(ChatTemplates{}.choose({}, false), IsError(ErrorCode::kChatTemplate, HasSubstr("has no chat template")));
}

TEST(ChatTemplate, JsonFromOutsideIsBounded) {
  EXPECT_THAT(parse_chat_json("[1,", "f"), IsError(ErrorCode::kInput, HasSubstr("f: not JSON")));
  EXPECT_THAT(parse_chat_json(std::string(200, '['), "f"), IsError(ErrorCode::kInput, HasSubstr("200 levels")));
  EXPECT_THAT(parse_chat_json("[\"[[[\\\"\"]", "f"), IsOk());
}

}  // namespace
}  // namespace headrace
