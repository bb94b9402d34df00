#define PCRE2_CODE_UNIT_WIDTH 8
#include "tokenizer/regex.h"

#include <pcre2.h>

#include <algorithm>
#include <array>

namespace headrace {
namespace {

// A match of a text of n bytes may backtrack so often for each byte, and at least so often at all.
constexpr size_t kStepsPerByte = 20;
constexpr size_t kLeastSteps = 10'000'000;
constexpr size_t kJitStackBytes = size_t{64} << 20;

struct FreeCode {
  void operator()(pcre2_code* code) const { pcre2_code_free(code); }
};
struct FreeCompileContext {
  void operator()(pcre2_compile_context* context) const { pcre2_compile_context_free(context); }
};
struct FreeMatchData {
  void operator()(pcre2_match_data* data) const { pcre2_match_data_free(data); }
};
struct FreeMatchContext {
  void operator()(pcre2_match_context* context) const { pcre2_match_context_free(context); }
};
struct FreeJitStack {
  void operator()(pcre2_jit_stack* stack) const { pcre2_jit_stack_free(stack); }
};

std::string message_of(int error) {
  std::array<PCRE2_UCHAR, 256> text{};
  pcre2_get_error_message(error, text.data(), text.size());
  return reinterpret_cast<const char*>(text.data());
}

PCRE2_SPTR units(std::string_view text) { return reinterpret_cast<PCRE2_SPTR>(text.data()); }

}  // namespace

struct Regex::Code {
  std::unique_ptr<pcre2_code, FreeCode> code;
  bool jit{};
};

Result<Regex> Regex::compile(std::string_view pattern, std::string_view place) {
  HR_TRY(const std::string text, to_pcre2(pattern, place));
  const std::unique_ptr<pcre2_compile_context, FreeCompileContext> context(pcre2_compile_context_create(nullptr));
  if (!context) return fail(ErrorCode::kConfigUnsupported, "{}: pattern '{}': no memory for it", place, pattern);
  pcre2_set_newline(context.get(), PCRE2_NEWLINE_LF);
  // Oniguruma's ^ and $ are those of lines.
  constexpr uint32_t kOptions = PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C;
  int error = 0;
  size_t offset = 0;
  auto code = std::make_shared<Code>();
  code->code.reset(pcre2_compile(units(text), text.size(), kOptions, &error, &offset, context.get()));
  if (!code->code)
    return fail(ErrorCode::kConfigUnsupported, "{}: pattern '{}': {}", place, pattern, message_of(error));
  code->jit = pcre2_jit_compile(code->code.get(), PCRE2_JIT_COMPLETE) == 0;
  return Regex(std::string(pattern), std::move(code));
}

struct Matcher::State {
  std::shared_ptr<const Regex::Code> code;
  std::unique_ptr<pcre2_match_data, FreeMatchData> data;
  std::unique_ptr<pcre2_match_context, FreeMatchContext> context;
  std::unique_ptr<pcre2_jit_stack, FreeJitStack> stack;
  std::string pattern;

  int match(std::string_view subject, size_t start) const {
    return code->jit
               ? pcre2_jit_match(code->code.get(), units(subject), subject.size(), start, 0, data.get(), context.get())
               : pcre2_match(code->code.get(), units(subject), subject.size(), start, PCRE2_NO_UTF_CHECK, data.get(),
                             context.get());
  }
};

Matcher::Matcher(const Regex& regex) : state_(std::make_unique<State>()) {
  state_->code = regex.code_;
  state_->pattern = regex.pattern();
  state_->data.reset(pcre2_match_data_create_from_pattern(regex.code_->code.get(), nullptr));
  state_->context.reset(pcre2_match_context_create(nullptr));
  if (!state_->data || !state_->context) throw std::bad_alloc();
}
Matcher::~Matcher() = default;
Matcher::Matcher(Matcher&&) noexcept = default;
Matcher& Matcher::operator=(Matcher&&) noexcept = default;

Result<std::optional<Span>> Matcher::find(std::string_view subject, size_t start) {
  const size_t steps = std::min<size_t>(std::max(kLeastSteps, subject.size() * kStepsPerByte), UINT32_MAX);
  pcre2_set_match_limit(state_->context.get(), static_cast<uint32_t>(steps));
  int status = state_->match(subject, start);
  if (status == PCRE2_ERROR_JIT_STACKLIMIT && !state_->stack) {
    // The machine's own stack serves nearly every text; this one is for the rest.
    state_->stack.reset(pcre2_jit_stack_create(size_t{1} << 20, kJitStackBytes, nullptr));
    pcre2_jit_stack_assign(state_->context.get(), nullptr, state_->stack.get());
    status = state_->match(subject, start);
  }
  if (status == PCRE2_ERROR_NOMATCH) return std::nullopt;
  if (status < 0)
    return fail(ErrorCode::kInput, "text: pattern '{}' gives up at byte {} of {}: {}", state_->pattern, start,
                subject.size(), message_of(status));
  const size_t* found = pcre2_get_ovector_pointer(state_->data.get());
  return Span{.begin = std::max(start, found[0]), .end = std::max({start, found[0], found[1]})};
}

}  // namespace headrace
