#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>

#include "engine/call.h"
#include "engine/eval.h"
#include "formats/file.h"
#include "tools/command.h"
#include "tools/engine_choice.h"
#include "tools/interrupt.h"
#include "tools/text.h"
#include "tools/text_source.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

constexpr int64_t kDefaultContext = 512;

struct Typed {
  std::string directory, text, ids, context, stride;
  bool bare{};
  TypedEngine engine;
};

struct Outcome {
  PredictionScore score;
  EvaluationOptions windows;
  size_t tokens{};
  std::string_view engine;
  double seconds{};
};

Result<std::string> contents(const std::string& path) {
  HR_TRY(const InputFile file, InputFile::open(path));
  return file.read_text(0, file.size_bytes());
}

// Ids may stand in several lines, with or without a comma at a line's end.
std::string one_row(std::string_view lines) {
  std::string out;
  for (const char c : lines) {
    const bool separates = c == '\n' && !out.empty() && out.back() != ',';
    if (c != '\n' && c != '\r') out += c;
    if (separates) out += ',';
  }
  if (!out.empty() && out.back() == ',' && lines.back() == '\n') out.pop_back();
  return out;
}

Result<std::vector<int64_t>> read_tokens(const Typed& typed, const Engine<float>& engine) {
  if (typed.text.empty() == typed.ids.empty()) wrong_usage("--text and --ids: one of them");
  if (!typed.ids.empty()) {
    HR_TRY(const std::string ids, contents(typed.ids));
    try {
      return parse_tokens(one_row(ids), typed.ids);
    } catch (const UsageError& error) {  // what is wrong is the file
      return fail(ErrorCode::kInput, "{}", error.what());
    }
  }
  HR_TRY(const auto source, export_text_source(typed.directory, engine.manifest()));
  if (!source.tokenizer) return fail(ErrorCode::kInput, "{}: the export has no tokenizer; give --ids", typed.directory);
  HR_TRY(const std::string text, contents(typed.text));
  return source.tokenizer->encode(text, {.add_special = !typed.bare});
}

// The longest text that `score` takes.
int64_t longest(const Engine<float>& engine) {
  int64_t most = 0;
  for (const EngineProgram& program : engine.programs()) {
    if (program.function != "score") continue;
    const ManifestFunction* function = engine.manifest().find("score");
    const Dim& length = function->arguments.at(0).shape.at(1);
    if (length.is_static()) most = std::max(most, length.value());
    for (const auto& symbol : function->symbols)
      most = std::max(most, program.symbols.contains(symbol.name) ? program.symbols.at(symbol.name) : symbol.max);
  }
  return most;
}

Result<std::vector<float>> score_on(Engine<float>& engine, std::span<const int64_t> tokens) {
  HostTensor<float> input(DType::kI32, {1, static_cast<int64_t>(tokens.size())});
  std::ranges::copy(tokens, input.mutable_ints().begin());
  std::vector<HostTensor<float>> inputs;
  inputs.push_back(std::move(input));
  HR_TRY(const auto results, call<float>(engine, "score", std::move(inputs)));
  const auto rows = results.at(0).floats();
  return std::vector<float>(rows.begin(), rows.end());
}

Json to_json(const Outcome& outcome) {
  const PredictionScore& score = outcome.score;
  return {{"tokens", outcome.tokens},
          {"predicted", score.tokens},
          {"nll", score.nll},
          {"mean_nll", score.mean_nll()},
          {"perplexity", score.perplexity()},
          {"top1", score.top1},
          {"top1_share", static_cast<double>(score.top1) / static_cast<double>(score.tokens)},
          {"context", outcome.windows.context},
          {"stride", outcome.windows.stride},
          {"engine", outcome.engine},
          {"seconds", outcome.seconds}};
}

void choose_windows(const Typed& typed, int64_t most, EvaluationOptions& windows) {
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  windows.context =
      typed.context.empty() ? std::min(kDefaultContext, most) : parse_integer("--context", typed.context, 1, kMost);
  windows.stride =
      typed.stride.empty() ? (windows.context + 1) / 2 : parse_integer("--stride", typed.stride, 1, windows.context);
}

Status run_eval(const Typed& typed, Output& output) {
  const InterruptGuard interrupt;
  const EngineChoice choice = choose_engine(typed.engine);
  HR_TRY(const auto engine, open_engine(choice.kind, typed.directory, choice.options));
  HR_TRY(const auto tokens, read_tokens(typed, *engine));
  Outcome outcome{.score = {}, .windows = {}, .tokens = tokens.size(), .engine = engine->name()};
  if (engine->manifest().find("score") == nullptr)
    return fail(ErrorCode::kInput, "{}: the export has no function 'score'", typed.directory);
  const int64_t most = longest(*engine);
  choose_windows(typed, most, outcome.windows);
  if (outcome.windows.context > most)
    return fail(ErrorCode::kInput, "a context of {}, the export's score takes at most {} (--seq)",
                outcome.windows.context, most);
  outcome.windows.on_window = [&](const PredictionScore& so_far, int64_t total) {
    output.note("{} of {} tokens, perplexity {:.4f}", so_far.tokens, total, so_far.perplexity());
    return !interrupt.token().stop_requested() && !output.closed();
  };
  const auto start = std::chrono::steady_clock::now();
  HR_TRY(outcome.score, evaluate_tokens(tokens, outcome.windows, [&engine](std::span<const int64_t> window) {
           return score_on(*engine, window);
         }));
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const PredictionScore& score = outcome.score;
  if (output.json()) {
    output.document(to_json(outcome));
    return {};
  }
  output.text(fmt::format("perplexity {:.4f}, nll {:.6f} a token, top-1 {:.2f} %, over {} tokens\n", score.perplexity(),
                          score.mean_nll(), 100 * static_cast<double>(score.top1) / static_cast<double>(score.tokens),
                          score.tokens));
  output.note("windows of {} tokens every {}, on {}, in {}", outcome.windows.context, outcome.windows.stride,
              outcome.engine, duration_text(outcome.seconds));
  return {};
}

}  // namespace

Run declare_eval(CLI::App& app) {
  auto typed = std::make_shared<Typed>();
  app.add_option("DIR", typed->directory, "An export's directory")->required()->type_name("");
  app.add_option("--text", typed->text, "A file with the text to predict")->type_name("FILE");
  app.add_option("--ids", typed->ids, "In place of --text: a file with comma-separated token ids")->type_name("FILE");
  app.add_option("--context", typed->context,
                 fmt::format("Tokens of a window (default: {}, or what the export allows)", kDefaultContext))
      ->type_name("N");
  app.add_option("--stride", typed->stride, "How far windows are apart (default: half a window)")->type_name("N");
  app.add_flag("--bare", typed->bare, "Without the tokens that the file puts around a text (bos, eos)");
  add_engine_options(app, typed->engine);
  return [typed](Output& output) { return run_eval(*typed, output); };
}

}  // namespace headrace::tools
