#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include "engine/session.h"
#include "tools/command.h"
#include "tools/pieces_text.h"
#include "tools/text.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

constexpr int64_t kDefaultMaxTokens = 32;

struct Typed {
  std::string directory, tokens, max_tokens;
  bool ignore_eos{};
};

struct Outcome {
  std::vector<int64_t> prompt;
  std::vector<int64_t> tokens;
  std::string_view stop;  // max-tokens, eos, bound, closed
  double seconds{};
};

bool is_end(const Manifest& manifest, int64_t id) {
  return manifest.tokenizer && std::ranges::find(manifest.tokenizer->eos, id) != manifest.tokenizer->eos.end();
}

std::string text_of(const PieceText& pieces, const std::vector<int64_t>& ids) {
  std::string out;
  for (const int64_t id : ids) out += pieces.bytes(id);
  return out;
}

Json to_json(const Outcome& outcome, const PieceText& pieces) {
  const auto text = [&pieces](const std::vector<int64_t>& ids) {
    return pieces.known() ? Json(as_utf8(text_of(pieces, ids))) : Json(nullptr);
  };
  return {{"prompt", outcome.prompt}, {"prompt_text", text(outcome.prompt)},
          {"tokens", outcome.tokens}, {"text", text(outcome.tokens)},
          {"stop", outcome.stop},     {"seconds", outcome.seconds}};
}

constexpr std::pair<std::string_view, std::string_view> kStops[] = {
    {"max-tokens", "--max-tokens reached"},
    {"eos", "the model ended the text"},
    {"bound", "the length the export was made for is reached; a larger --seq of headrace export allows more"},
    {"closed", "the reader went away"},
};

Status run_generate(const Typed& typed, Output& output) {
  Outcome outcome{.prompt = parse_tokens(typed.tokens), .tokens = {}, .stop = {}};
  const int64_t wanted = typed.max_tokens.empty()
                             ? kDefaultMaxTokens
                             : parse_integer("--max-tokens", typed.max_tokens, 1, std::numeric_limits<int32_t>::max());
  HR_TRY(auto session, Session<float>::open(typed.directory));
  session.options.max_region_runs = kMaxRegionRuns;
  HR_TRY(const auto shape, session.score_shape());
  HR_TRY(const PieceText pieces, PieceText::open(typed.directory, session.manifest()));
  // The text may fill the bound, and one token more comes out of scoring a full text.
  const int64_t room = shape.max_tokens - static_cast<int64_t>(outcome.prompt.size()) + 1;
  const bool streaming = !output.json();
  bool started = false;
  const auto on_token = [&](int64_t id) {
    if (!streaming) return true;
    if (!started && !output.quiet()) output.text(text_of(pieces, outcome.prompt));
    started = true;
    if (typed.ignore_eos || !is_end(session.manifest(), id)) output.text(pieces.bytes(id));
    return !output.closed();
  };
  const auto start = std::chrono::steady_clock::now();
  HR_TRY(outcome.tokens, session.generate(outcome.prompt, {.max_tokens = std::clamp<int64_t>(room, 1, wanted),
                                                           .stop_at_eos = !typed.ignore_eos,
                                                           .on_token = on_token}));
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const bool ended = !typed.ignore_eos && !outcome.tokens.empty() && is_end(session.manifest(), outcome.tokens.back());
  outcome.stop = output.closed() ? "closed" : ended ? "eos" : room < wanted ? "bound" : "max-tokens";
  if (!streaming) {
    output.document(to_json(outcome, pieces));
    return {};
  }
  output.text("\n");
  const auto* stop = std::ranges::find(kStops, outcome.stop, &std::pair<std::string_view, std::string_view>::first);
  output.note("{} tokens in {}; {}", outcome.tokens.size(), duration_text(outcome.seconds), stop->second);
  return {};
}

}  // namespace

Run declare_generate(CLI::App& app) {
  auto typed = std::make_shared<Typed>();
  app.add_option("DIR", typed->directory, "An export's directory")->required()->type_name("");
  app.add_option("--tokens", typed->tokens, "The text to continue, as comma-separated token ids")
      ->required()
      ->type_name("IDS");
  app.add_option("--max-tokens", typed->max_tokens,
                 fmt::format("Tokens to add at most (default: {})", kDefaultMaxTokens))
      ->type_name("N");
  app.add_flag("--ignore-eos", typed->ignore_eos, "Go on after the model's end-of-text tokens");
  return [typed](Output& output) { return run_generate(*typed, output); };
}

}  // namespace headrace::tools
