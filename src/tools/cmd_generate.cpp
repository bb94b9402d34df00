#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <thread>

#include "tools/chat_session.h"
#include "tools/command.h"
#include "tools/export_cache.h"
#include "tools/generate_options.h"
#include "tools/interrupt.h"
#include "tools/pieces_text.h"
#include "tools/text.h"
#include "tools/text_source.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

constexpr int64_t kDefaultMaxTokens = 32;

struct StopName {
  std::string_view name;
  std::string_view text;
};
// By AnswerStop.
constexpr std::array kStops{
    StopName{"max-tokens", "--max-tokens reached"},
    StopName{"eos", "the model ended the text"},
    StopName{"stop", "a text of --stop came"},
    StopName{"bound",
             "the length the export was made for is reached (headrace export --kv static:C, or --seq of score)"},
    StopName{"closed", "the reader went away, or Ctrl-C"},
};

const StopName& stop_name(AnswerStop stop) { return kStops.at(static_cast<size_t>(stop)); }

// What a run has open.
struct Opened {
  std::string directory;
  std::shared_ptr<Engine<float>> engine;
  std::optional<Decoder<float>> decoder;
  TextSource source;
  std::stop_source stop;  // of loading and compiling
  double load_seconds{};  // exporting, opening, compiling, weights
};

std::string text_of(const Opened& opened, const PieceText& pieces, const std::vector<int64_t>& ids) {
  if (opened.source.tokenizer)
    if (const auto text = opened.source.tokenizer->decode(ids, {.show_special = true})) return *text;
  std::string out;
  for (const int64_t id : ids) out += pieces.bytes(id);
  return out;
}

Json to_json(const Opened& opened, const PieceText& pieces, const std::vector<int64_t>& prompt, const Answer& made) {
  const auto text = [&](const std::vector<int64_t>& ids) {
    return pieces.known() ? Json(as_utf8(text_of(opened, pieces, ids))) : Json(nullptr);
  };
  const double rest = made.seconds - made.first_token_seconds;
  const bool rated = made.tokens.size() > 1 && rest > 0;
  return {{"prompt", prompt},
          {"prompt_text", text(prompt)},
          {"tokens", made.tokens},
          {"text", pieces.known() ? Json(as_utf8(made.text)) : Json(nullptr)},
          {"stop", stop_name(made.stop).name},
          {"engine", opened.engine->name()},
          {"load_seconds", opened.load_seconds},
          {"first_token_seconds", made.first_token_seconds},
          {"tokens_per_second", rated ? Json(static_cast<double>(made.tokens.size() - 1) / rest) : Json(nullptr)},
          {"seconds", made.seconds},
          {"engine_seconds", made.engine_seconds}};
}

// The directory to open: the path itself, or an export of the checkpoint it names.
Result<std::string> find_export(const std::string& path, const std::stop_token& stop, Output& output) {
  if (is_export(path)) return path;
  ExportOptions options{.model_path = path, .directory = {}};
  options.functions = {"prefill", "chunk", "decode"};
  options.kv.extent = KvExtent::kStatic;
  HR_TRY(options.directory, cached_export_directory(path, fmt::format("{} static", fmt::join(options.functions, ","))));
  if (is_export(options.directory)) {
    output.note("using the export in {}", options.directory);
    return options.directory;
  }
  output.note("exporting {} to {}", path, options.directory);
  for (bool waiting = false;; waiting = true) {
    Warnings warnings;
    const auto report = export_model(options, {.progress = {}, .dump = {}, .stop = stop}, warnings);
    if (report) {
      output.warnings(warnings);
      output.note("exported in {}", duration_text(report->total_seconds));
      return options.directory;
    }
    if (report.error().code != ErrorCode::kBusy) return fail(report.error());
    // Its lock ends with it: either the export is there then, or it is for this process to make.
    if (!waiting) output.note("another process makes the same export: waiting for it");
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    if (stop.stop_requested()) return fail(ErrorCode::kInterrupted, "interrupted while another process exported");
    if (is_export(options.directory)) return options.directory;
  }
}

Result<Opened> open_all(const TypedGenerate& typed, Output& output) {
  Opened out;
  EngineChoice choice = choose_engine(typed.engine);
  choice.options.stop = out.stop.get_token();
  HR_TRY(out.load_seconds, load_guarded(out.stop, [&]() -> Status {
           HR_TRY(out.directory, find_export(typed.path, out.stop.get_token(), output));
           HR_TRY(out.engine, open_engine(choice.kind, out.directory, choice.options));
           HR_TRY(out.decoder, Decoder<float>::open(out.engine));
           HR_TRY(out.source, export_text_source(out.directory, out.engine->manifest()));
           return {};
         }));
  return out;
}

AnswerOptions answer_options(const Opened& opened, const GenerateRequest& request) {
  return {.max_tokens = request.max_tokens.value_or(request.chat ? opened.decoder->capacity() : kDefaultMaxTokens),
          .stop_at_ends = !request.ignore_eos,
          .stops = request.stops,
          .show_special = !request.chat};
}

Result<std::vector<int64_t>> prompt_tokens(const Opened& opened, const GenerateRequest& request) {
  if (request.tokens) return *request.tokens;
  if (!opened.source.tokenizer)
    return fail(ErrorCode::kInput, "{}: the export has no tokenizer; give --tokens", opened.directory);
  return opened.source.tokenizer->encode(*request.prompt, {.add_special = true});
}

// Continues tokens or a text.
Status run_once(Opened& opened, const GenerateRequest& request, Keyboard& keyboard, Output& output) {
  HR_TRY(const PieceText pieces, PieceText::open(opened.directory, opened.engine->manifest()));
  if (!request.stops.empty() && !opened.source.tokenizer)
    return fail(ErrorCode::kInput, "{}: the export has no tokenizer; --stop needs one", opened.directory);
  HR_TRY(const auto prompt, prompt_tokens(opened, request));
  HR_TRY(Sampler sampler, Sampler::make(request.sampling));
  AnswerOptions options = answer_options(opened, request);
  options.full_cache_ends = false;
  HR_TRY_STATUS(opened.decoder->check(prompt));
  HR_TRY(const double seconds, load_guarded(opened.stop, [&] {
           return opened.decoder->prepare(static_cast<int64_t>(prompt.size()), options.max_tokens - 1);
         }));
  opened.load_seconds += seconds;
  const bool streaming = !output.json();
  bool started = false;
  const auto begin = [&] {
    if (streaming && !started && !output.quiet()) output.text(text_of(opened, pieces, prompt));
    started = true;
  };
  options.on_token = [&](int64_t id) {
    begin();
    if (streaming && !opened.source.tokenizer) output.text(pieces.bytes(id));
  };
  options.on_text = [&](std::string_view text) {
    if (streaming) output.text(text);
    return !output.closed();
  };
  options.go_on = [&] { return !output.closed() && !keyboard.interrupted(); };
  std::vector<int64_t> history;
  auto made = answer(*opened.decoder, opened.source.tokenizer, sampler, prompt, history, options);
  if (streaming && started) output.text("\n");
  if (!made) return fail(std::move(made).error());
  if (streaming)
    output.note("{}; {}", times_text(*made), stop_name(made->stop).text);
  else
    output.document(to_json(opened, pieces, prompt, *made));
  return {};
}

Result<Conversation> open_conversation(Opened& opened, const GenerateRequest& request) {
  if (!opened.source.tokenizer)
    return fail(ErrorCode::kInput, "{}: the export has no tokenizer, which --chat needs", opened.directory);
  HR_TRY(Sampler sampler, Sampler::make(request.sampling));
  ChatJson tools = nullptr;
  if (!request.tools.empty()) {
    HR_TRY(tools, read_chat_json(request.tools));
  }
  HR_TRY(auto out, Conversation::make(*std::move(opened.decoder), *opened.source.tokenizer, opened.source.chat, sampler,
                                      std::move(tools)));
  out.variables = request.variables;
  out.loading = opened.stop;
  if (request.system) out.add("system", *request.system);
  return out;
}

// Later turns need other programs than the first one: all are compiled before a person waits for an answer.
Status prepare_all(Opened& opened, bool caches, Output& output) {
  const auto prepare = [&](const EngineProgram& program) -> Status {
    const bool used = caches
                          ? program.function == "prefill" || program.function == "chunk" || program.function == "decode"
                          : program.function == "score";
    if (!used) return {};
    SymbolValues symbols = program.symbols;  // one that the program leaves open may have any value
    for (const ManifestSymbol& symbol : opened.engine->manifest().find(program.function)->symbols)
      symbols.emplace(symbol.name, symbol.min);
    return opened.engine->prepare(program.function, symbols);
  };
  HR_TRY(const double seconds, load_guarded(opened.stop, [&]() -> Status {
           for (const EngineProgram& program : opened.engine->programs())
             if (!opened.stop.stop_requested()) HR_TRY_STATUS(prepare(program));
           return {};
         }));
  output.note("ready after {}", duration_text(seconds));
  return {};
}

Status run_chat(Opened& opened, const GenerateRequest& request, Keyboard& keyboard, Output& output) {
  AnswerOptions options = answer_options(opened, request);
  const bool caches = opened.decoder->has_caches();
  HR_TRY(Conversation conversation, open_conversation(opened, request));
  if (!request.prompt) {
    HR_TRY_STATUS(prepare_all(opened, caches, output));
    return run_session(conversation, keyboard, options, output);
  }
  options.go_on = [&] { return !output.closed() && !keyboard.interrupted(); };
  options.on_text = [&output](std::string_view text) {
    if (!output.json()) output.text(text);
    return !output.closed();
  };
  HR_TRY(const auto turn, conversation.say(*request.prompt, options));
  if (output.json()) {
    HR_TRY(const PieceText pieces, PieceText::open(opened.directory, opened.engine->manifest()));
    opened.load_seconds += turn.prepare_seconds;
    output.document(to_json(opened, pieces, turn.prompt, turn.answer));
    return {};
  }
  output.text("\n");
  output.note("{}; {}", times_text(turn.answer), stop_name(turn.answer.stop).text);
  return {};
}

Status run_generate(const TypedGenerate& typed, Output& output) {
  const GenerateRequest request = read_generate_options(typed);
  Keyboard keyboard;
  HR_TRY(Opened opened, open_all(typed, output));
  return request.chat ? run_chat(opened, request, keyboard, output) : run_once(opened, request, keyboard, output);
}

}  // namespace

Run declare_generate(CLI::App& app) {
  auto typed = std::make_shared<TypedGenerate>();
  add_generate_options(app, *typed);
  return [typed](Output& output) { return run_generate(*typed, output); };
}

}  // namespace headrace::tools
