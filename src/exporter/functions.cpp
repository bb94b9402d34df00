#include "exporter/functions.h"

#include <algorithm>
#include <limits>

#include "nn/cached_kv.h"
#include "nn/control.h"
#include "nn/trace.h"

namespace headrace {

namespace {

using Named = std::vector<std::pair<std::string, Tensor>>;
using Arguments = std::span<const Tensor>;

// What the builders share.
struct Plan {
  const Model& model;
  const FunctionOptions& options;
  const KvLayout& layout;

  [[nodiscard]] Type tokens(const Dim& length) const {
    return {.dtype = DType::kI32, .shape = {options.batch, length}};
  }
  [[nodiscard]] Type per_row() const { return {.dtype = DType::kI32, .shape = {options.batch}}; }
};

const Dim& seq() {
  static const Dim kSeq = Dim::symbol("seq");
  return kSeq;
}
const Dim& past() {
  static const Dim kPast = Dim::symbol("past");
  return kPast;
}

// 0, 1, 2, ... of each row, from `start` [B] on.
Tensor positions_of(const Tensor& tokens, const Tensor* start) {
  const Tensor offsets = iota(tokens.tracer(), DType::kI32, tokens.shape(), 1);
  return start == nullptr ? offsets : offsets + broadcast_in_dim(*start, tokens.shape(), {0});
}

// Hidden states [B, S, width] of each row's last token: [B, 1, width]. A row of zeros goes before them, so that the
// number of rows is at least 1 whatever S, and row `length` is the last token's.
Tensor last_rows(const Tensor& hidden, const Tensor& length) {
  const Tensor padded = after_zero_row(hidden);
  return take_rows(padded, column(length));
}

// [B, 1, V] -> [B, V].
Tensor without_length(const Tensor& logits) { return reshape(logits, {logits.dim(0), logits.dim(2)}); }

// The result that the options ask for. `length` is null where each row has one token.
std::pair<std::string, Tensor> outcome(const Plan& plan, const Tensor& hidden, const Tensor* length) {
  const Model& model = plan.model;
  if (plan.options.result == ResultKind::kLogits) return {"logits", model.head(hidden)};
  const Tensor rows =
      length == nullptr ? hidden : in_scope(hidden.tracer(), "last", [&] { return last_rows(hidden, *length); });
  const Tensor logits = without_length(model.head(rows));
  if (plan.options.result == ResultKind::kLastLogits) return {"last_logits", logits};
  return {"token", in_scope(hidden.tracer(), "argmax", [&] { return argmax(logits); })};
}

// One run of the model that keeps keys and values: the outcome, then the caches.
Named with_caches(const Plan& plan, const Tensor& tokens, CacheCall call) {
  const std::optional<Tensor> length = call.length;
  const Tensor positions = call.positions;
  CachedKv kv(plan.layout, std::move(call));
  Named results{outcome(plan, plan.model.forward(tokens, positions, kv), length ? &*length : nullptr)};
  const auto names = plan.layout.caches(past());
  const auto tensors = kv.results();
  for (size_t i = 0; i < names.size(); ++i) results.emplace_back(names[i].name, tensors[i]);
  return results;
}

FunctionSpec score(const Plan& plan) {
  return {.name = {},
          .arguments = {{.name = "tokens", .type = plan.tokens(seq())}},
          .state = {},
          .body = [&plan](Tracer&, Arguments in) {
            NoCache kv;
            const Tensor hidden = plan.model.forward(in[0], positions_of(in[0], nullptr), kv);
            return Named{{"logits", plan.model.head(hidden)}};
          }};
}

FunctionSpec prefill(const Plan& plan) {
  FunctionSpec spec{
      .name = {},
      .arguments = {{.name = "tokens", .type = plan.tokens(seq())}, {.name = "length", .type = plan.per_row()}},
      .state = {},
      .body = [&plan](Tracer&, Arguments in) {
        return with_caches(plan, in[0], {.positions = positions_of(in[0], nullptr), .length = in[1], .past = {}});
      }};
  const auto caches = static_cast<uint32_t>(plan.layout.caches(past()).size());
  for (uint32_t i = 0; i < caches; ++i) spec.state.push_back({.argument = StatePair::kNew, .result = 1 + i});
  return spec;
}

// Arguments after `own`, and the pairs of a function whose first result is its outcome.
void add_cache_arguments(const Plan& plan, FunctionSpec& spec) {
  for (NamedType& cache : plan.layout.caches(past())) {
    spec.state.push_back({.argument = static_cast<uint32_t>(spec.arguments.size()),
                          .result = static_cast<uint32_t>(spec.state.size() + 1)});
    spec.arguments.push_back(std::move(cache));
  }
}

FunctionSpec chunk(const Plan& plan) {
  FunctionSpec spec{.name = {},
                    .arguments = {{.name = "tokens", .type = plan.tokens(seq())},
                                  {.name = "length", .type = plan.per_row()},
                                  {.name = "position", .type = plan.per_row()}},
                    .state = {},
                    .body = [&plan](Tracer&, Arguments in) {
                      return with_caches(plan, in[0],
                                         {.positions = positions_of(in[0], &in[2]),
                                          .length = in[1],
                                          .past = in[2],
                                          .caches = {in.begin() + 3, in.end()}});
                    }};
  add_cache_arguments(plan, spec);
  return spec;
}

FunctionSpec decode(const Plan& plan) {
  FunctionSpec spec{
      .name = {},
      .arguments = {{.name = "tokens", .type = plan.tokens(1)}, {.name = "position", .type = plan.per_row()}},
      .state = {},
      .body = [&plan](Tracer&, Arguments in) {
        return with_caches(plan, in[0],
                           {.positions = positions_of(in[0], &in[1]),
                            .length = {},
                            .past = in[1],
                            .caches = {in.begin() + 2, in.end()}});
      }};
  add_cache_arguments(plan, spec);
  return spec;
}

Tensor likeliest(const Model& model, const Tensor& rows) { return argmax(without_length(model.head(rows))); }

// One step of the loop of `generate`. Carried: step, number of tokens wanted, last token [B], its position [B], all
// tokens [B, capacity], caches.
Tensors generate_step(const Plan& plan, Arguments in) {
  Tracer& t = in[0].tracer();
  const Tensor tokens = column(in[2]);
  const Tensor positions = positions_of(tokens, &in[3]);
  CachedKv kv(plan.layout, {.positions = positions, .length = {}, .past = in[3], .caches = {in.begin() + 5, in.end()}});
  // -1, which stands for a logit that is NaN, is followed by no other token.
  const Tensor chosen = likeliest(plan.model, plan.model.forward(tokens, positions, kv));
  const Tensor next = select(compare(in[2], "LT", t.scalar(DType::kI32, 0)), in[2], chosen);
  const Tensor written = column(next);
  Tensors out{in[0] + 1, in[1], next, in[3] + 1,
              dynamic_update_slice(in[4], written, {t.scalar(DType::kI32, 0), in[0]})};
  for (const Tensor& cache : kv.results()) out.push_back(cache);
  return out;
}

FunctionSpec generate(const Plan& plan) {
  return {.name = {},
          .arguments = {{.name = "tokens", .type = plan.tokens(seq())},
                        {.name = "length", .type = plan.per_row()},
                        {.name = "count", .type = {.dtype = DType::kI32, .shape = {}}}},
          .state = {},
          .body = [&plan](Tracer& t, Arguments in) {
            const auto number = [&](int64_t value) { return t.scalar(DType::kI32, static_cast<double>(value)); };
            const Tensor positions = positions_of(in[0], nullptr);
            CachedKv kv(plan.layout, {.positions = positions, .length = in[1], .past = {}});
            const Tensor hidden = plan.model.forward(in[0], positions, kv);
            const Tensor first = likeliest(plan.model, last_rows(hidden, in[1]));
            const Type all = plan.tokens(plan.layout.policy.capacity);
            const Tensor blank = broadcast_to(number(-1), all.shape);
            const Tensor begun = select(compare(in[2], "LT", number(1)), blank,
                                        dynamic_update_slice(blank, column(first), {number(0), number(0)}));
            // A step writes to the cache, so the longest text leaves room for capacity - length of them.
            const Tensor room = number(plan.layout.policy.capacity + 1) - reduce_max(in[1], {0});
            const Tensor count = select(compare(in[2], "LT", room), in[2], room);
            Tensors carried{number(1), count, first, in[1], begun};
            for (const Tensor& cache : kv.results()) carried.push_back(cache);
            const Tensors done = while_loop(
                carried, [](Arguments state) { return compare(state[0], "LT", state[1]); },
                [&plan](Arguments state) { return generate_step(plan, state); });
            return Named{{"tokens", done[4]}};
          }};
}

struct Builder {
  std::string_view name;
  FunctionSpec (*build)(const Plan&);
};
constexpr Builder kBuilders[] = {
#define HR_FUNCTION(name, builder, cached, summary) {name, builder},
#include "exporter/functions.def"
};

Status check(const Model& model, const FunctionOptions& options) {
  if (options.functions.empty()) return fail(ErrorCode::kOptions, "no functions are asked for");
  if (options.max_seq < 1 || options.max_seq > model.context_length())
    return fail(ErrorCode::kOptions, "sequence length {} is outside 1 to {}, the model's context length",
                options.max_seq, model.context_length());
  if (options.batch < 1 || options.batch > kMaxBatch)
    return fail(ErrorCode::kOptions, "batch {} is outside 1 to {}", options.batch, kMaxBatch);
  for (const std::string& name : options.functions) {
    const auto row = std::ranges::find(function_table(), name, &FunctionInfo::name);
    if (row == function_table().end()) return fail(ErrorCode::kOptions, "there is no function '{}'", name);
    if (std::ranges::count(options.functions, name) > 1)
      return fail(ErrorCode::kOptions, "function '{}' is asked for twice", name);
    if (row->cached && options.kv.extent == KvExtent::kNone)
      return fail(ErrorCode::kOptions, "function '{}' needs a cache, and the cache policy is none", name);
    if (name == "generate" && options.kv.extent == KvExtent::kConcat)
      return fail(ErrorCode::kOptions, "function 'generate' needs caches of a static capacity, not growing ones");
  }
  if (options.kv.extent == KvExtent::kNone) return {};
  if (options.kv.capacity < options.max_seq || options.kv.capacity > model.context_length())
    return fail(ErrorCode::kOptions,
                "cache capacity {} (--kv) is outside {}, the longest input (--seq), to {}, the model's context length",
                options.kv.capacity, options.max_seq, model.context_length());
  return {};
}

// The layers with caches, by a dry run.
Result<std::vector<CacheLayer>> cache_layers(const Model& model, const std::vector<Parameter>& parameters) {
  LayerRecorder recorder;
  const FunctionSpec spec{.name = "layers",
                          .arguments = {{.name = "tokens", .type = {.dtype = DType::kI32, .shape = {1, 1}}}},
                          .state = {},
                          .body = [&](Tracer&, Arguments in) {
                            return Named{{"hidden", model.forward(in[0], positions_of(in[0], nullptr), recorder)}};
                          }};
  HR_TRY(const Function dry, trace(spec, parameters));
  return recorder.layers();
}

}  // namespace

std::span<const FunctionInfo> function_table() {
  static constexpr FunctionInfo kTable[] = {
#define HR_FUNCTION(name, builder, cached, summary) {name, cached, summary},
#include "exporter/functions.def"
  };
  return kTable;
}

Result<TracedModel> trace_functions(const Model& model, const Checkpoint& checkpoint, const FunctionOptions& options,
                                    Warnings& warnings) {
  HR_TRY_STATUS(check(model, options));
  HR_TRY(auto weights, link_weights(model, checkpoint, warnings));
  TracedModel out{.module = {.name = std::string(model.architecture()),
                             .symbols = {{.name = "seq", .min = 1, .max = options.max_seq}},
                             .recipes = std::move(weights.recipes),
                             .parameters = std::move(weights.parameters),
                             .functions = {}},
                  .layout = {.policy = options.kv, .batch = options.batch, .layers = {}}};
  if (options.kv.extent != KvExtent::kNone) {
    HR_TRY(out.layout.layers, cache_layers(model, out.module.parameters));
  }
  if (out.layout.any_grows())
    // Padding stays in caches that grow, so `past` may exceed the positions of a text.
    out.module.symbols.push_back({.name = "past", .min = 0, .max = std::numeric_limits<int32_t>::max()});
  const Plan plan{.model = model, .options = options, .layout = out.layout};
  for (const Builder& builder : kBuilders) {
    if (std::ranges::find(options.functions, builder.name) == options.functions.end()) continue;
    FunctionSpec spec = builder.build(plan);
    spec.name = std::string(builder.name);
    HR_TRY(auto function, trace(spec, out.module.parameters));
    out.module.functions.push_back(std::move(function));
  }
  return out;
}

}  // namespace headrace
