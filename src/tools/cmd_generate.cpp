#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <memory>

#include "engine/decoder.h"
#include "tools/command.h"
#include "tools/engine_choice.h"
#include "tools/pieces_text.h"
#include "tools/text.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

constexpr int64_t kDefaultMaxTokens = 32;

struct Typed {
  std::string directory, tokens, max_tokens;
  bool ignore_eos{};
  TypedEngine engine;
};

struct Outcome {
  std::vector<int64_t> prompt;
  Continuation continuation;
  std::string_view engine;
  double load_seconds{};  // opening, compiling, weights
};

struct StopText {
  std::string_view name;
  std::string_view text;
};
// By StopReason.
constexpr std::array kStops{
    StopText{"max-tokens", "--max-tokens reached"},
    StopText{"eos", "the model ended the text"},
    StopText{"bound", "the length the export was made for is reached; a larger --seq of headrace export allows more"},
    StopText{"closed", "the reader went away"},
};

const StopText& stop_text(const Outcome& outcome) { return kStops.at(static_cast<size_t>(outcome.continuation.stop)); }

bool is_end(const Manifest& manifest, int64_t id) {
  return manifest.tokenizer && std::ranges::find(manifest.tokenizer->eos, id) != manifest.tokenizer->eos.end();
}

std::string text_of(const PieceText& pieces, const std::vector<int64_t>& ids) {
  std::string out;
  for (const int64_t id : ids) out += pieces.bytes(id);
  return out;
}

// Tokens after the first, per second; nothing when there are none.
std::optional<double> decode_rate(const Continuation& continuation) {
  const double seconds = continuation.seconds - continuation.first_token_seconds;
  if (continuation.tokens.size() < 2 || seconds <= 0) return std::nullopt;
  return static_cast<double>(continuation.tokens.size() - 1) / seconds;
}

Json to_json(const Outcome& outcome, const PieceText& pieces) {
  const auto text = [&pieces](const std::vector<int64_t>& ids) {
    return pieces.known() ? Json(as_utf8(text_of(pieces, ids))) : Json(nullptr);
  };
  const Continuation& made = outcome.continuation;
  const auto rate = decode_rate(made);
  return {{"prompt", outcome.prompt},
          {"prompt_text", text(outcome.prompt)},
          {"tokens", made.tokens},
          {"text", text(made.tokens)},
          {"stop", stop_text(outcome).name},
          {"engine", outcome.engine},
          {"load_seconds", outcome.load_seconds},
          {"first_token_seconds", made.first_token_seconds},
          {"tokens_per_second", rate ? Json(*rate) : Json(nullptr)},
          {"seconds", made.seconds},
          {"engine_seconds", made.engine_seconds}};
}

void note_times(const Outcome& outcome, Output& output) {
  const Continuation& made = outcome.continuation;
  const auto rate = decode_rate(made);
  output.note("{} tokens in {}, the first after {}{}; {}", made.tokens.size(), duration_text(made.seconds),
              duration_text(made.first_token_seconds), rate ? fmt::format(", then {:.3g} tokens/s", *rate) : "",
              stop_text(outcome).text);
}

Status run_generate(const Typed& typed, Output& output) {
  Outcome outcome{.prompt = parse_tokens(typed.tokens), .continuation = {}, .engine = {}};
  const int64_t wanted = typed.max_tokens.empty()
                             ? kDefaultMaxTokens
                             : parse_integer("--max-tokens", typed.max_tokens, 1, std::numeric_limits<int32_t>::max());
  const EngineChoice choice = choose_engine(typed.engine);
  outcome.engine = info(choice.kind).name;
  const auto start = std::chrono::steady_clock::now();
  HR_TRY(std::shared_ptr<Engine<float>> engine, open_engine(choice.kind, typed.directory, choice.options));
  HR_TRY(auto decoder, Decoder<float>::open(engine));
  HR_TRY(const PieceText pieces, PieceText::open(typed.directory, engine->manifest()));
  HR_TRY_STATUS(decoder.check(outcome.prompt));
  HR_TRY_STATUS(decoder.prepare(static_cast<int64_t>(outcome.prompt.size()), wanted - 1));
  outcome.load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();

  const bool streaming = !output.json();
  bool started = false;
  const auto on_token = [&](int64_t id) {
    if (!streaming) return true;
    if (!started && !output.quiet()) output.text(text_of(pieces, outcome.prompt));
    started = true;
    if (typed.ignore_eos || !is_end(engine->manifest(), id)) output.text(pieces.bytes(id));
    return !output.closed();
  };
  auto made = continue_text<float>(decoder, outcome.prompt,
                                   {.max_tokens = wanted, .stop_at_eos = !typed.ignore_eos, .on_token = on_token});
  if (started) output.text("\n");
  HR_TRY(outcome.continuation, std::move(made));
  if (streaming) {
    note_times(outcome, output);
  } else {
    output.document(to_json(outcome, pieces));
  }
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
  add_engine_options(app, typed->engine);
  return [typed](Output& output) { return run_generate(*typed, output); };
}

}  // namespace headrace::tools
