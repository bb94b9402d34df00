#include "interp/interpreter.h"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include "interp/bind.h"
#include "interp/gemm.h"
#include "interp/plan.h"

namespace headrace {

namespace {

// Regions and calls within each other. Verified modules do not recurse; the stack must not depend on that.
constexpr int kMaxNesting = 64;

template <class F>
bool has_type(const HostTensor<F>& tensor, const Type& type) {
  return tensor.dtype() == type.dtype &&
         std::equal(type.shape.begin(), type.shape.end(), tensor.sizes().begin(), tensor.sizes().end(),
                    [](const Dim& dim, int64_t size) { return dim.value() == size; });
}

template <class F>
std::string describe(const HostTensor<F>& tensor) {
  return fmt::format("{}[{}]", name(tensor.dtype()), fmt::join(tensor.sizes(), ", "));
}

template <class F>
Eval<F> evaluation(const OpDef& op) {
  if constexpr (std::is_same_v<F, float>)
    return op.eval_f32;
  else
    return op.eval_f64;
}

// One run of one function. Not shared between threads.
template <class F>
class Run {
 public:
  using Tensor = HostTensor<F>;
  using Tensors = std::vector<Tensor>;

  Run(const Module& module, const ParameterSource<F>& parameters, const InterpreterOptions<F>& options,
      SymbolValues symbols)
      : module_(module),
        parameters_(parameters),
        options_(options),
        symbols_(std::move(symbols)),
        contract_(fast_contraction<F>(options.threads)),
        run_([this](const Graph& graph, Tensors inputs) { return enter(function_, graph, std::move(inputs)); }),
        call_([this](const std::string& callee, Tensors inputs) { return call(callee, std::move(inputs)); }),
        load_([this](const std::string& parameter) { return load(parameter); }) {}

  Result<Tensors> function(const Function& function, Tensors inputs) {
    function_ = function.name;
    return graph(*function.graph, std::move(inputs));
  }

 private:
  Result<Tensors> graph(const Graph& graph, Tensors inputs) {
    HR_TRY(const Plan* plan, plan_of(graph));
    HR_CHECK(inputs.size() == plan->inputs.size());
    for (size_t i = 0; i < inputs.size(); ++i) HR_CHECK(has_type(inputs[i], plan->inputs[i]));

    std::vector<Tensors> values(graph.nodes().size());
    for (size_t i = 0; i < inputs.size(); ++i) values[i].push_back(std::move(inputs[i]));
    for (const uint32_t unused : plan->unused_inputs) values[unused].clear();
    for (const PlanStep& step : plan->steps) {
      HR_TRY_STATUS(node(graph, step, values));
      for (const uint32_t dropped : step.drop) values[dropped].clear();
    }

    Tensors results;
    for (const ValueId& result : graph.results()) results.push_back(values[result.node][result.result]);
    return results;
  }

  Status node(const Graph& graph, const PlanStep& step, std::vector<Tensors>& values) {
    if (options_.stop.stop_requested()) return fail(ErrorCode::kInterrupted, "stopped");
    const Node& node = graph.nodes()[step.node];
    Tensors operands;
    operands.reserve(node.operands.size());
    for (const ValueId& operand : node.operands) operands.push_back(values[operand.node][operand.result]);

    EvalContext<F> context{.node = node,
                           .operands = operands,
                           .result_types = step.types,
                           .symbols = symbols_,
                           .contract = contract_,
                           .run = run_,
                           .call = call_,
                           .parameter = load_};
    auto results = evaluation<F>(*node.op)(context);
    if (!results) return fail(std::move(results).error().in(title(graph, step.node)));
    HR_CHECK(results->size() == step.types.size());
    for (size_t i = 0; i < results->size(); ++i) HR_CHECK(has_type((*results)[i], step.types[i]));

    values[step.node] = *std::move(results);
    if (options_.observe) observe(graph, step.node, values[step.node]);
    return {};
  }

  void observe(const Graph& graph, uint32_t node, const Tensors& results) {
    for (size_t i = 0; i < results.size(); ++i) {
      options_.observe({.function = function_,
                        .depth = depth_,
                        .graph = graph,
                        .node = node,
                        .result = static_cast<uint32_t>(i),
                        .place = graph.place(node),
                        .value = results[i]});
    }
  }

  // A region, or a called function's graph.
  Result<Tensors> enter(std::string_view function, const Graph& body, Tensors inputs) {
    if (depth_ == kMaxNesting) return fail(ErrorCode::kEvaluate, "regions and calls nest deeper than {}", kMaxNesting);
    if (options_.max_region_runs != 0 && ++region_runs_ > options_.max_region_runs)
      return fail(ErrorCode::kEvaluate, "regions and calls ran more than {} times", options_.max_region_runs);
    const std::string_view caller = std::exchange(function_, function);
    ++depth_;
    auto results = graph(body, std::move(inputs));
    --depth_;
    function_ = caller;
    return results;
  }

  Result<Tensors> call(const std::string& callee, Tensors inputs) {
    const Function* function = module_.find(callee);
    if (function == nullptr) return fail(ErrorCode::kEvaluate, "no function '{}' in the module", callee);
    return enter(function->name, *function->graph, std::move(inputs));
  }

  Result<Tensor> load(const std::string& parameter) {
    const Parameter* found = module_.parameter(parameter);
    if (found == nullptr) return fail(ErrorCode::kEvaluate, "no parameter '{}' in the module", parameter);
    HR_TRY(Tensor tensor, parameters_.load(*found));
    if (!has_type(tensor, found->type))
      return fail(ErrorCode::kArchive, "parameter '{}': the source gives {}, expected {}", parameter, describe(tensor),
                  to_string(found->type));
    return tensor;
  }

  Result<const Plan*> plan_of(const Graph& graph) {
    if (const auto known = plans_.find(&graph); known != plans_.end()) return &known->second;
    HR_TRY(Plan plan, make_plan(graph, symbols_));
    if constexpr (std::is_same_v<F, float>) HR_TRY_STATUS(refuse_f64(graph));
    return &plans_.emplace(&graph, std::move(plan)).first->second;
  }

  static Status refuse_f64(const Graph& graph) {
    for (uint32_t i = 0; i < graph.nodes().size(); ++i) {
      for (const Type& type : graph.nodes()[i].results) {
        if (type.dtype == DType::kF64)
          return fail(ErrorCode::kEvaluate, "{}: a value of type {} needs evaluation in f64", title(graph, i),
                      to_string(type));
      }
    }
    return {};
  }

  const Module& module_;
  const ParameterSource<F>& parameters_;
  const InterpreterOptions<F>& options_;
  SymbolValues symbols_;
  ContractFn<F> contract_;
  decltype(EvalContext<F>::run) run_;
  decltype(EvalContext<F>::call) call_;
  decltype(EvalContext<F>::parameter) load_;
  std::unordered_map<const Graph*, Plan> plans_;
  std::string_view function_;
  int depth_ = 0;
  uint64_t region_runs_ = 0;
};

Result<const Function*> find_public(const Module& module, std::string_view function) {
  const Function* found = module.find(function);
  if (found != nullptr && found->visibility == Visibility::kPublic) return found;
  std::string names;
  for (const Function& f : module.functions)
    if (f.visibility == Visibility::kPublic) names += (names.empty() ? "" : ", ") + f.name;
  return fail(ErrorCode::kInput, "no function '{}', expected one of: {}", function, names);
}

}  // namespace

template <class F>
Result<std::vector<HostTensor<F>>> interpret(const Module& module, std::string_view function,
                                             std::vector<HostTensor<F>> inputs, const ParameterSource<F>& parameters,
                                             const InterpreterOptions<F>& options) {
  HR_TRY(const Function* found, find_public(module, function));
  std::vector<InputShape> shapes;
  shapes.reserve(inputs.size());
  for (const auto& input : inputs) shapes.push_back({input.dtype(), input.sizes()});
  HR_TRY(SymbolValues symbols, bind_symbols(module, *found, shapes));
  try {
    return Run<F>(module, parameters, options, std::move(symbols)).function(*found, std::move(inputs));
  } catch (const UserError& overflow) {  // dim arithmetic on the sizes of this run
    return fail(ErrorCode::kEvaluate, "{}: {}", function, overflow.error.message);
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::kMemoryLimit, "{}: not enough memory for the values of a run", function);
  } catch (const std::length_error&) {
    return fail(ErrorCode::kMemoryLimit, "{}: not enough memory for the values of a run", function);
  }
}

template Result<std::vector<HostTensor<float>>> interpret(const Module&, std::string_view,
                                                          std::vector<HostTensor<float>>, const ParameterSource<float>&,
                                                          const InterpreterOptions<float>&);
template Result<std::vector<HostTensor<double>>> interpret(const Module&, std::string_view,
                                                           std::vector<HostTensor<double>>,
                                                           const ParameterSource<double>&,
                                                           const InterpreterOptions<double>&);

}  // namespace headrace
