#include <chrono>
#include <filesystem>
#include <limits>
#include <memory>

#include "engine/call.h"
#include "engine/engine.h"
#include "interp/host_bytes.h"
#include "tools/command.h"
#include "tools/engine_choice.h"
#include "tools/function_inputs.h"
#include "tools/pieces_text.h"
#include "tools/text.h"
#include "tools/top.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

constexpr int64_t kDefaultTop = 5;

struct Typed {
  std::string directory, function, output;
  std::optional<std::string> tokens;
  std::vector<std::string> inputs;
  std::string precision{"f32"};
  std::string top;
  TypedEngine engine;
};

struct Request {
  std::string directory, function, output;
  std::optional<std::vector<int64_t>> tokens;
  std::vector<NamedInput> inputs;
  int64_t top{};
  EngineChoice engine;
};

template <class F>
struct Outcome {
  std::vector<const ManifestResult*> said;
  std::vector<HostTensor<F>> results;
  std::vector<Ranked> ranked;
  double seconds{};
};

// One result goes to a file; all of them to a directory, each under its name.
template <class F>
Status write_results(const std::string& output, const Outcome<F>& outcome) {
  if (output.empty()) return {};
  if (!output.ends_with('/')) return save_npy(output, outcome.results.front());
  std::error_code error;
  std::filesystem::create_directories(output, error);
  if (error) return fail(ErrorCode::kFileWrite, "{}: cannot be made: {}", output, error.message());
  for (size_t i = 0; i < outcome.results.size(); ++i)
    HR_TRY_STATUS(save_npy(fmt::format("{}{}.npy", output, outcome.said[i]->name), outcome.results[i]));
  return {};
}

// What the last row of the first result ranks highest: for logits, the likeliest next tokens.
template <class F>
std::vector<Ranked> ranking(const std::vector<HostTensor<F>>& results, int64_t k) {
  if (results.empty() || !is_float(results[0].dtype()) || results[0].rank() == 0 || results[0].elements() == 0)
    return {};
  return top(results[0].floats().last(static_cast<size_t>(results[0].sizes().back())), k);
}

template <class F>
Json to_json(const Request& request, const Outcome<F>& outcome, const PieceText& pieces) {
  Json shapes = Json::array();
  for (size_t i = 0; i < outcome.results.size(); ++i)
    shapes.push_back({{"name", outcome.said[i]->name},
                      {"dtype", name(outcome.results[i].dtype())},
                      {"shape", outcome.results[i].sizes()}});
  Json tops = Json::array();
  for (const Ranked& r : outcome.ranked)
    tops.push_back({{"id", r.id},
                    {"logit", r.logit},
                    {"piece", pieces.known() ? Json(as_utf8(pieces.bytes(r.id))) : Json(nullptr)}});
  return {{"function", request.function},
          {"engine", info(request.engine.kind).name},
          {"tokens", request.tokens ? Json(*request.tokens) : Json(nullptr)},
          {"results", std::move(shapes)},
          {"top", std::move(tops)},
          {"output", request.output.empty() ? Json(nullptr) : Json(request.output)},
          {"seconds", outcome.seconds}};
}

template <class F>
void print(const Request& request, const Outcome<F>& outcome, const PieceText& pieces, Output& output) {
  for (size_t i = 0; i < outcome.results.size(); ++i)
    output.text(fmt::format("{} {}[{}]\n", outcome.said[i]->name, name(outcome.results[i].dtype()),
                            fmt::join(outcome.results[i].sizes(), ", ")));
  std::vector<std::vector<std::string>> rows;
  for (const Ranked& r : outcome.ranked) {
    rows.push_back({fmt::format("{}", r.id), fmt::format("{:.4f}", r.logit)});
    if (pieces.known()) rows.back().push_back(in_quotes(pieces.bytes(r.id)));
  }
  if (!rows.empty()) output.text(fmt::format("highest at the last position\n{}", columns(rows, "  ", {0, 1})));
  if (!request.output.empty()) output.note("wrote {}", request.output);
  output.note("computed in {}", duration_text(outcome.seconds));
}

template <class F>
Status run(const Request& request, Engine<F>& engine, Output& output) {
  const ManifestFunction* function = engine.manifest().find(request.function);
  if (function == nullptr) return fail(engine.program(request.function, {}).error());
  HR_TRY(auto inputs, function_inputs<F>(*function, request.tokens, request.inputs));
  const auto start = std::chrono::steady_clock::now();
  HR_TRY(auto results, call<F>(engine, request.function, std::move(inputs)));
  Outcome<F> outcome{.said = {}, .results = std::move(results), .ranked = {}};
  outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  // Of a program that keeps its caches the results are fewer.
  for (const ManifestResult& result : function->results)
    if (outcome.results.size() == function->results.size() || result.kind == ValueKind::kData)
      outcome.said.push_back(&result);
  HR_CHECK(outcome.said.size() == outcome.results.size() && !outcome.results.empty());
  HR_TRY_STATUS(write_results(request.output, outcome));
  HR_TRY(const PieceText pieces, PieceText::open(request.directory, engine.manifest()));
  outcome.ranked = ranking(outcome.results, request.top);
  if (output.json()) {
    output.document(to_json(request, outcome, pieces));
  } else {
    print(request, outcome, pieces, output);
  }
  return {};
}

Status run_f32(const Request& request, Output& output) {
  HR_TRY(const auto engine, open_engine(request.engine.kind, request.directory, request.engine.options));
  return run<float>(request, *engine, output);
}

Status run_f64(const Request& request, Output& output) {
  HR_TRY(const auto engine, open_interp_f64(request.directory, request.engine.options));
  return run<double>(request, *engine, output);
}

}  // namespace

Run declare_run(CLI::App& app) {
  auto typed = std::make_shared<Typed>();
  app.add_option("DIR", typed->directory, "An export's directory")->required()->type_name("");
  app.add_option("FUNCTION", typed->function, "A function of the export, such as score")->required()->type_name("");
  app.add_option("--tokens", typed->tokens, "Token ids, comma-separated, for the argument tokens")->type_name("IDS");
  app.add_option("--input", typed->inputs,
                 "An argument: NAME=FILE.npy, NAME=INTEGERS or NAME=zeros; NAME 'caches' means all of them")
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
  app.add_option("-o,--output", typed->output,
                 "Write the first result as a .npy file, or with a / at the end all of them into a directory")
      ->type_name("FILE");
  app.add_option("--precision", typed->precision, "What floats are computed in: f32 (default), f64 (interp alone)")
      ->type_name("TYPE");
  app.add_option("--top", typed->top, fmt::format("How many of the highest logits to show (default: {})", kDefaultTop))
      ->type_name("K");
  add_engine_options(app, typed->engine);
  return [typed](Output& output) {
    Request request{.directory = typed->directory,
                    .function = typed->function,
                    .output = typed->output,
                    .tokens = std::nullopt,
                    .inputs = parse_inputs(typed->inputs),
                    .top = typed->top.empty()
                               ? kDefaultTop
                               : parse_integer("--top", typed->top, 0, std::numeric_limits<int32_t>::max()),
                    .engine = choose_engine(typed->engine)};
    if (typed->tokens) request.tokens = parse_tokens(*typed->tokens);
    if (typed->precision == "f32") return run_f32(request, output);
    if (typed->precision != "f64") wrong_usage("--precision: '{}' is none of f32, f64", printable(typed->precision));
    if (request.engine.kind != EngineKind::kInterp) wrong_usage("--precision: f64 is the interpreter's alone");
    return run_f64(request, output);
  };
}

}  // namespace headrace::tools
