#include <chrono>
#include <limits>
#include <memory>

#include "engine/session.h"
#include "interp/host_bytes.h"
#include "tools/command.h"
#include "tools/pieces_text.h"
#include "tools/text.h"
#include "tools/top.h"
#include "tools/usage.h"

namespace headrace::tools {
namespace {

constexpr int64_t kDefaultTop = 5;

struct Typed {
  std::string directory, function, tokens, output;
  std::string precision{"f32"};
  std::string top;
};

struct Request {
  std::string directory, function, output;
  std::vector<int64_t> tokens;
  int64_t top{};
};

std::string names(const auto& items) {
  std::vector<std::string> out;
  out.reserve(items.size());
  for (const auto& item : items) out.push_back(item.name);
  return fmt::format("{}", fmt::join(out, ", "));
}

// `score` checks its tokens itself; of other functions, those that take nothing but tokens [1, n] can be run from here.
template <class F>
Result<std::vector<HostTensor<F>>> call(const Session<F>& session, const Request& request) {
  const Manifest& manifest = session.manifest();
  const ManifestFunction* function = manifest.find(request.function);
  if (function == nullptr)
    return fail(ErrorCode::kInput, "no function '{}' (functions: {})", request.function, names(manifest.functions));
  if (request.function == "score") {
    HR_TRY(HostTensor<F> logits, session.score(request.tokens));
    return std::vector<HostTensor<F>>{std::move(logits)};
  }
  if (function->arguments.size() != 1 || function->arguments[0].dtype != DType::kI32)
    return fail(ErrorCode::kInput, "function '{}' takes {}; --tokens can fill only one list of ids", request.function,
                names(function->arguments));
  const int64_t ids =
      manifest.tokenizer ? manifest.tokenizer->vocabulary : int64_t{std::numeric_limits<int32_t>::max()};
  HostTensor<F> tokens(DType::kI32, {1, static_cast<int64_t>(request.tokens.size())});
  for (size_t i = 0; i < request.tokens.size(); ++i) {
    const int64_t id = request.tokens[i];
    if (id < 0 || id >= ids)
      return fail(ErrorCode::kInput, "token {} at position {} is outside the vocabulary of {}", id, i, ids);
    tokens.mutable_ints()[i] = id;
  }
  return session.run(request.function, {std::move(tokens)});
}

template <class F>
Status write_result(const Request& request, const ManifestFunction& function,
                    const std::vector<HostTensor<F>>& results) {
  if (request.output.empty()) return {};
  if (results.size() != 1)
    return fail(ErrorCode::kInput, "function '{}' has results {}; -o can write only one", request.function,
                names(function.results));
  return save_npy(request.output, results[0]);
}

// What the last row of the first result ranks highest: for logits, the likeliest next tokens.
template <class F>
std::vector<Ranked> ranking(const std::vector<HostTensor<F>>& results, int64_t k) {
  if (results.empty() || !is_float(results[0].dtype()) || results[0].rank() == 0 || results[0].elements() == 0)
    return {};
  return top(results[0].floats().last(static_cast<size_t>(results[0].sizes().back())), k);
}

template <class F>
Json to_json(const Request& request, const ManifestFunction& function, const std::vector<HostTensor<F>>& results,
             const std::vector<Ranked>& ranked, const PieceText& pieces, double seconds) {
  Json shapes = Json::array();
  for (size_t i = 0; i < results.size(); ++i)
    shapes.push_back(
        {{"name", function.results[i].name}, {"dtype", name(results[i].dtype())}, {"shape", results[i].sizes()}});
  Json tops = Json::array();
  for (const Ranked& r : ranked)
    tops.push_back({{"id", r.id},
                    {"logit", r.logit},
                    {"piece", pieces.known() ? Json(as_utf8(pieces.bytes(r.id))) : Json(nullptr)}});
  return {{"function", request.function},
          {"tokens", request.tokens},
          {"results", std::move(shapes)},
          {"top", std::move(tops)},
          {"output", request.output.empty() ? Json(nullptr) : Json(request.output)},
          {"seconds", seconds}};
}

template <class F>
Status run(const Request& request, Output& output) {
  HR_TRY(auto session, Session<F>::open(request.directory));
  session.options.max_region_runs = kMaxRegionRuns;
  const auto start = std::chrono::steady_clock::now();
  HR_TRY(const auto results, call(session, request));
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const ManifestFunction& function = *session.manifest().find(request.function);
  HR_CHECK(function.results.size() == results.size());
  HR_TRY_STATUS(write_result(request, function, results));
  HR_TRY(const PieceText pieces, PieceText::open(request.directory, session.manifest()));
  const std::vector<Ranked> ranked = ranking(results, request.top);
  if (output.json()) {
    output.document(to_json(request, function, results, ranked, pieces, seconds));
    return {};
  }
  for (size_t i = 0; i < results.size(); ++i)
    output.text(fmt::format("{} {}[{}]\n", function.results[i].name, name(results[i].dtype()),
                            fmt::join(results[i].sizes(), ", ")));
  std::vector<std::vector<std::string>> rows;
  for (const Ranked& r : ranked) {
    rows.push_back({fmt::format("{}", r.id), fmt::format("{:.4f}", r.logit)});
    if (pieces.known()) rows.back().push_back(in_quotes(pieces.bytes(r.id)));
  }
  if (!rows.empty()) output.text(fmt::format("highest at the last position\n{}", columns(rows, "  ", {0, 1})));
  if (!request.output.empty()) output.note("wrote {}", request.output);
  output.note("computed in {}", duration_text(seconds));
  return {};
}

}  // namespace

Run declare_run(CLI::App& app) {
  auto typed = std::make_shared<Typed>();
  app.add_option("DIR", typed->directory, "An export's directory")->required()->type_name("");
  app.add_option("FUNCTION", typed->function, "A function of the export, such as score")->required()->type_name("");
  app.add_option("--tokens", typed->tokens, "Token ids, comma-separated")->required()->type_name("IDS");
  app.add_option("-o,--output", typed->output, "Write the result as a .npy file")->type_name("FILE");
  app.add_option("--precision", typed->precision, "What floats are computed in: f32 (default), f64")->type_name("TYPE");
  app.add_option("--top", typed->top, fmt::format("How many of the highest logits to show (default: {})", kDefaultTop))
      ->type_name("K");
  return [typed](Output& output) {
    const Request request{.directory = typed->directory,
                          .function = typed->function,
                          .output = typed->output,
                          .tokens = parse_tokens(typed->tokens),
                          .top = typed->top.empty()
                                     ? kDefaultTop
                                     : parse_integer("--top", typed->top, 0, std::numeric_limits<int32_t>::max())};
    if (typed->precision == "f32") return run<float>(request, output);
    if (typed->precision == "f64") return run<double>(request, output);
    wrong_usage("--precision: '{}' is none of f32, f64", printable(typed->precision));
  };
}

}  // namespace headrace::tools
