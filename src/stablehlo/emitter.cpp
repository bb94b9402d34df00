#include "stablehlo/emitter.h"

#include <algorithm>
#include <span>
#include <unordered_map>

#include "ops/ops.h"
#include "stablehlo/function_writer.h"
#include "stablehlo/text.h"

namespace headrace {

namespace {

std::string joined_types(const std::vector<Type>& types) {
  std::string out;
  for (const Type& t : types) out += (out.empty() ? "" : ", ") + mlir::type(t);
  return out;
}

std::string result_list(const std::vector<Type>& types) {
  return types.size() == 1 ? mlir::type(types[0]) : "(" + joined_types(types) + ")";
}

// `util.global` and `func.func` share one table of symbols: a prefix keeps a tensor called "score" apart from the
// function.
std::string global_symbol(std::string_view parameter) { return mlir::symbol(fmt::format("parameter.{}", parameter)); }
// Private functions likewise, so that one called like a public function of another module or "main" is harmless.
std::string private_symbol(std::string_view function) { return mlir::symbol(fmt::format("private.{}", function)); }

std::string return_line(const std::vector<std::string>& values, const std::vector<Type>& types) {
  return fmt::format("    return {} : {}\n", fmt::join(values, ", "), joined_types(types));
}

Status check_static(const Function& function) {
  const auto types = function.graph->input_types();
  for (size_t i = 0; i < types.size(); ++i)
    if (!is_static(types[i].shape))
      return fail(ErrorCode::kEmit, "function '{}': argument '{}' is {}: specialise first", function.name,
                  function.arguments[i], to_string(types[i]));
  return {};
}

// Parameters a graph and its regions use, in the order of first use.
void collect_parameters(const Graph& graph, std::vector<std::string>& names) {
  for (const Node& node : graph.nodes()) {
    if (node.op == &ops::kParameter) {
      const auto& name = std::get<std::string>(node.attrs[0]);
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    for (const GraphPtr& region : node.regions) collect_parameters(*region, names);
  }
}

// IREE 3.13 merges mutable globals of equal type and equal initial value: every one starts from another number, small
// and normal. No call reads a slot that was not written.
std::string initial_value(DType dtype, size_t number) {
  return dtype == DType::kF32 ? fmt::format("0x{:08X}", 0x3C000000 + number) : fmt::format("0x{:04X}", 0x3C00 + number);
}

std::string state_symbol(std::string_view state) { return mlir::symbol(fmt::format("state.{}", state)); }

// Names and types of all state, in the order of first mention.
Result<std::vector<std::pair<std::string, Type>>> state_globals(const Module& module) {
  std::vector<std::pair<std::string, Type>> out;
  for (const Function& f : module.functions) {
    const auto types = f.graph->result_types();
    for (const StatePair& s : f.state) {
      const std::string& name = f.results[s.result];
      const Type& type = types[s.result];
      if (!is_static(type.shape))
        return fail(ErrorCode::kEmit, "function '{}': state '{}' is {}, and a global has one size", f.name, name,
                    to_string(type));
      const auto known = std::find_if(out.begin(), out.end(), [&](const auto& g) { return g.first == name; });
      if (known == out.end()) {
        out.emplace_back(name, type);
      } else if (known->second != type) {
        return fail(ErrorCode::kEmit, "function '{}': state '{}' is {}, elsewhere {}", f.name, name, to_string(type),
                    to_string(known->second));
      }
    }
  }
  return out;
}

// What becomes of arguments and results when state is kept in globals.
struct GlobalState {
  std::vector<bool> argument, result;  // true: lives in a global
  GlobalState(const Function& f, bool in_globals) : argument(f.arguments.size()), result(f.results.size()) {
    if (!in_globals) return;
    for (const StatePair& s : f.state) {
      if (s.argument != StatePair::kNew) argument[s.argument] = true;
      result[s.result] = true;
    }
  }
};

// The state whose new value fits into the argument's memory, or null.
const StatePair* replaced_by(const Function& f, size_t argument, const Type& type, std::span<const Type> results) {
  const auto found = std::find_if(f.state.begin(), f.state.end(), [&](const StatePair& s) {
    return s.argument == argument && results[s.result] == type;
  });
  return found == f.state.end() ? nullptr : &*found;
}

Result<std::string> iree_function(const Module& module, const Function& f, const IreeOptions& options) {
  const TargetSpelling target{
      .parameter =
          [&](const std::string& name) {
            const Parameter* p = module.parameter(name);
            HR_CHECK(p != nullptr);
            return TargetSpelling::Access{
                .text = fmt::format("util.global.load {} : {}", global_symbol(name), mlir::type(p->type)),
                .is_value = false};
          },
      .callee = [](std::string_view callee) { return private_symbol(callee); },
      .symbolic = true};
  FunctionWriter writer(target);
  std::vector<std::string> inputs;
  std::string header;
  std::string loads;
  const GlobalState in_globals(f, options.state_in_globals);
  const auto types = f.graph->input_types();
  const auto result_types = f.graph->result_types();
  for (size_t i = 0; i < types.size(); ++i) {
    inputs.push_back(fmt::format("%arg{}", i));
    if (in_globals.argument[i])
      loads += fmt::format("    {} = util.global.load {} : {}\n", inputs.back(), state_symbol(f.arguments[i]),
                           mlir::type(types[i]));
    else
      header += fmt::format("{}{}: {}{} loc({})", header.empty() ? "" : ", ", inputs.back(), mlir::type(types[i]),
                            replaced_by(f, i, types[i], result_types) ? " {iree.abi.consume}" : "",
                            mlir::quoted(f.arguments[i]));
  }
  auto results = writer.write(*f.graph, inputs, "    ");
  if (!results) return fail(std::move(results).error().in(fmt::format("function '{}'", f.name)));
  const bool is_public = f.visibility == Visibility::kPublic;
  std::vector<std::string> returned;
  std::vector<Type> returned_types;
  std::string stores;
  for (size_t i = 0; i < result_types.size(); ++i) {
    if (in_globals.result[i]) {
      stores += fmt::format("    util.global.store {}, {} : {}\n", (*results)[i], state_symbol(f.results[i]),
                            mlir::type(result_types[i]));
    } else {
      returned.push_back((*results)[i]);
      returned_types.push_back(result_types[i]);
    }
  }
  return fmt::format("  func.func {} {}({}) -> {} {{\n{}{}{}{}  }}\n", is_public ? "public" : "private",
                     is_public ? mlir::symbol(f.name) : private_symbol(f.name), header, result_list(returned_types),
                     loads, writer.text(), stores, return_line(returned, returned_types));
}

}  // namespace

Result<std::string> emit_iree(const Module& module, const IreeOptions& options) {
  std::string out = fmt::format("module {} {{\n", mlir::symbol(module.name));
  for (const Parameter& p : module.parameters)
    out += fmt::format("  util.global private {} = #flow.parameter.named<{}::{}> : {}\n", global_symbol(p.name),
                       mlir::quoted(kParameterScope), mlir::quoted(p.name), mlir::type(p.type));
  if (options.state_in_globals) {
    HR_TRY(const auto globals, state_globals(module));
    for (size_t i = 0; i < globals.size(); ++i)
      out += fmt::format("  util.global private mutable {} = dense<{}> : {}\n", state_symbol(globals[i].first),
                         initial_value(globals[i].second.dtype, i), mlir::type(globals[i].second));
  }
  for (const Function& f : module.functions) {
    HR_TRY(const std::string text, iree_function(module, f, options));
    out += text;
  }
  return out + "}\n";
}

Result<XlaProgram> emit_xla(const Module& module, const Function& f) {
  HR_TRY_STATUS(check_static(f));
  XlaProgram program;
  collect_parameters(*f.graph, program.parameters);
  const auto own = f.graph->input_types();
  const auto result_types = f.graph->result_types();
  std::vector<std::string> inputs;
  std::string header;
  const auto argument = [&](const std::string& name, const Type& type, const std::string& attributes) {
    const size_t i = inputs.size();
    inputs.push_back(fmt::format("%arg{}", i));
    header += fmt::format("{}\n      %arg{}: {}{} loc({})", i == 0 ? "" : ",", i, mlir::type(type), attributes,
                          mlir::quoted(name));
  };
  for (size_t i = 0; i < own.size(); ++i) {
    const StatePair* const state = replaced_by(f, i, own[i], result_types);
    argument(f.arguments[i], own[i],
             state == nullptr ? "" : fmt::format(" {{tf.aliasing_output = {} : i32}}", state->result));
  }
  std::unordered_map<std::string, std::string> weights;
  for (const std::string& name : program.parameters) {
    argument(name, module.parameter(name)->type, "");
    weights[name] = inputs.back();
  }
  inputs.resize(own.size());
  const TargetSpelling target{
      .parameter =
          [&](const std::string& name) { return TargetSpelling::Access{.text = weights.at(name), .is_value = true}; },
      .callee = [](std::string_view callee) { return private_symbol(callee); }};
  FunctionWriter writer(target);
  auto results = writer.write(*f.graph, inputs, "    ");
  if (!results) return fail(std::move(results).error().in(fmt::format("function '{}'", f.name)));
  program.text = fmt::format("module {} {{\n  func.func public @main({}) -> {} {{\n{}{}  }}\n}}\n",
                             mlir::symbol(module.name), header, result_list(f.graph->result_types()), writer.text(),
                             return_line(*results, f.graph->result_types()));
  return program;
}

}  // namespace headrace
