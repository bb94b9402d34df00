#include "exporter/export.h"
#include "nn/trace.h"

namespace headrace {

namespace {

// `score`: all tokens at once, no cache. Position i is the token's index.
FunctionSpec score_function(const Model& model) {
  const Type tokens{.dtype = DType::kI32, .shape = {1, Dim::symbol("seq")}};
  return {.name = "score",
          .arguments = {{.name = "tokens", .type = tokens}},
          .state = {},
          .body = [&model](Tracer& tracer, std::span<const Tensor> arguments) {
            const Tensor positions = iota(tracer, DType::kI32, arguments[0].shape(), 1);
            NoCache cache;
            const Tensor logits = model.forward(arguments[0], positions, cache);
            return std::vector<std::pair<std::string, Tensor>>{{"logits", logits}};
          }};
}

}  // namespace

Result<Module> trace_model(const Model& model, const Checkpoint& checkpoint, int64_t seq_bound, Warnings& warnings) {
  if (seq_bound < 1 || seq_bound > model.context_length())
    return fail(ErrorCode::kOptions, "sequence length {} is outside 1 to {}, the model's context length", seq_bound,
                model.context_length());
  HR_TRY(auto weights, link_weights(model, checkpoint, warnings));
  Module module{.name = std::string(model.architecture()),
                .symbols = {{.name = "seq", .min = 1, .max = seq_bound}},
                .recipes = std::move(weights.recipes),
                .parameters = std::move(weights.parameters),
                .functions = {}};
  HR_TRY(auto score, trace(score_function(model), module.parameters));
  module.functions.push_back(std::move(score));
  return module;
}

}  // namespace headrace
