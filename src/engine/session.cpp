#include "engine/session.h"

#include <algorithm>
#include <cmath>

#include "engine/decode_function.h"
#include "ir/parse.h"
#include "ir/verify.h"
#include "ops/ops.h"
#include "weights/load.h"

namespace headrace {

namespace {

constexpr std::string_view kScore = "score";

Result<Module> read_module(const LoadedExport& loaded) {
  const Manifest& manifest = loaded.manifest;
  const auto text = std::ranges::find(manifest.texts, manifest.module_file, &ManifestText::file);
  if (text == manifest.texts.end())
    return fail(ErrorCode::kManifest, "{}: module '{}' is not among the texts", loaded.directory, manifest.module_file);
  HR_TRY(const std::string hir, read_text(loaded, *text));
  auto module = parse_module(hir, ops::lookup);
  if (!module) return fail(std::move(module).error().in(loaded.path(text->file)));
  if (auto status = verify(*module); !status) return fail(std::move(status).error().in(loaded.path(text->file)));
  return module;
}

// The values of a function as the manifest and as the module have them; the first that differ.
std::optional<std::string> difference(const std::vector<ManifestArgument>& said, const std::vector<std::string>& names,
                                      const std::vector<Type>& types) {
  if (said.size() != names.size()) return fmt::format("{} of them, the module has {}", said.size(), names.size());
  for (size_t i = 0; i < said.size(); ++i) {
    const Type type{.dtype = said[i].dtype, .shape = said[i].shape};
    if (said[i].name != names[i] || type != types[i])
      return fmt::format("'{}' {}, the module has '{}' {}", said[i].name, to_string(type), names[i],
                         to_string(types[i]));
  }
  return std::nullopt;
}

// The manifest is what callers go by and the module what runs: they must agree.
Status check_functions(const LoadedExport& loaded, const Module& module) {
  for (const ManifestFunction& said : loaded.manifest.functions) {
    const Function* f = module.find(said.name);
    if (f == nullptr || f->visibility != Visibility::kPublic)
      return fail(ErrorCode::kManifest, "{}: function '{}' is not in the module", loaded.directory, said.name);
    if (const auto fault = difference(said.arguments, f->arguments, f->graph->input_types()))
      return fail(ErrorCode::kManifest, "{}: function '{}': arguments: {}", loaded.directory, said.name, *fault);
    if (const auto fault = difference(said.results, f->results, f->graph->result_types()))
      return fail(ErrorCode::kManifest, "{}: function '{}': results: {}", loaded.directory, said.name, *fault);
    std::vector<ManifestPair> state;
    for (const StatePair& pair : f->state)
      if (pair.argument != StatePair::kNew) state.push_back({.argument = pair.argument, .result = pair.result});
    if (said.state != state)
      return fail(ErrorCode::kManifest, "{}: function '{}': state: not the pairs of the module", loaded.directory,
                  said.name);
  }
  return {};
}

// The largest value of a dim that is static or a bare symbol; 0 for others.
int64_t largest(const Module& module, const Dim& dim) {
  if (dim.is_static()) return dim.value();
  const auto symbol = std::find_if(module.symbols.begin(), module.symbols.end(),
                                   [&](const Symbol& s) { return dim == Dim::symbol(s.name); });
  return symbol == module.symbols.end() ? 0 : symbol->max;
}

}  // namespace

template <class F>
Result<int64_t> argmax(std::span<const F> values) {
  if (values.empty()) return fail(ErrorCode::kEvaluate, "no values to choose from");
  size_t best = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (std::isnan(values[i])) return fail(ErrorCode::kEvaluate, "the value at index {} is NaN", i);
    if (values[i] > values[best]) best = i;
  }
  return static_cast<int64_t>(best);
}

template <class F>
Result<Session<F>> Session<F>::open(const std::string& directory) {
  HR_TRY(LoadedExport loaded, load_export(directory));
  HR_TRY(Module module, read_module(loaded));
  HR_TRY_STATUS(check_functions(loaded, module));
  HR_TRY(auto archive, Archive::open(loaded));
  return Session(std::make_shared<const State>(
      State{std::move(loaded.manifest), std::move(module), ArchiveParameters<F>(std::move(archive))}));
}

template <class F>
Result<std::vector<HostTensor<F>>> Session<F>::run(std::string_view function, std::vector<HostTensor<F>> inputs) const {
  return interpret<F>(state_->module, function, std::move(inputs), state_->parameters, options);
}

template <class F>
Result<typename Session<F>::ScoreShape> Session<F>::score_shape() const {
  const Function* score = module().find(kScore);
  if (score == nullptr)
    return fail(ErrorCode::kInput, "the export has no function '{}' (headrace export --functions)", kScore);
  const auto arguments = score->graph->input_types();
  const auto results = score->graph->result_types();
  const bool fits = arguments.size() == 1 && arguments[0].dtype == DType::kI32 && arguments[0].shape.size() == 2 &&
                    arguments[0].shape[0] == Dim(1) && results.size() == 1 && is_float(results[0].dtype) &&
                    results[0].shape.size() == 3 && results[0].shape[0] == Dim(1) &&
                    results[0].shape[1] == arguments[0].shape[1] && results[0].shape[2].is_static();
  const int64_t bound = fits ? largest(module(), arguments[0].shape[1]) : 0;
  if (!fits || bound < 1)
    return fail(ErrorCode::kInput, "{}: expected a function of tokens i32[1, n] to logits [1, n, vocabulary]", kScore);
  return ScoreShape{bound, results[0].shape[2].value()};
}

template <class F>
Result<typename Session<F>::ScoreShape> Session<F>::check_tokens(std::span<const int64_t> tokens) const {
  HR_TRY(const ScoreShape shape, score_shape());
  if (tokens.empty()) return fail(ErrorCode::kInput, "no tokens, expected 1 to {}", shape.max_tokens);
  if (tokens.size() > static_cast<uint64_t>(shape.max_tokens))
    return fail(ErrorCode::kInput, "{} tokens, expected at most {} (the export's bound, --seq)", tokens.size(),
                shape.max_tokens);
  for (size_t i = 0; i < tokens.size(); ++i)
    HR_TRY_STATUS(check_token(tokens[i], static_cast<int64_t>(i), shape.vocabulary));
  return shape;
}

template <class F>
Result<HostTensor<F>> Session<F>::score(std::span<const int64_t> tokens, const ScoreOptions& score) const {
  HR_TRY(const ScoreShape shape, check_tokens(tokens));
  const auto count = static_cast<int64_t>(tokens.size());
  if (score.pad_to != 0 && (score.pad_to < count || score.pad_to > shape.max_tokens))
    return fail(ErrorCode::kInput, "padding to {}, expected {} to {}", score.pad_to, count, shape.max_tokens);
  // A function of static length takes that length only.
  const Dim length = module().find(kScore)->graph->input_types()[0].shape[1];
  const int64_t padded = length.is_static() ? length.value() : std::max(count, score.pad_to);

  HostTensor<F> input(DType::kI32, {1, padded});
  std::ranges::copy(tokens, input.mutable_ints().begin());
  std::vector<HostTensor<F>> inputs;
  inputs.push_back(std::move(input));
  HR_TRY(auto results, run(kScore, std::move(inputs)));
  if (padded == count) return std::move(results[0]);
  HostTensor<F> leading(results[0].dtype(), {1, count, shape.vocabulary});
  std::ranges::copy(results[0].floats().first(static_cast<size_t>(leading.elements())),
                    leading.mutable_floats().begin());
  return leading;
}

template Result<int64_t> argmax(std::span<const float>);
template Result<int64_t> argmax(std::span<const double>);
template class Session<float>;
template class Session<double>;

}  // namespace headrace
