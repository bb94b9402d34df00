#include "ir/parse.h"

#include <algorithm>
#include <unordered_map>

#include "ir/parser.h"

namespace headrace {

namespace {

using hir::RawGraph;
using hir::RawNode;
using hir::RawValue;
using hir::TokenStream;

// Turns raw trees into graphs: first every reference is checked, then nodes are added and their types compared.
class Linker {
 public:
  explicit Linker(const TokenStream& in) : in_(in) {}

  Result<GraphPtr> link(const RawGraph& raw) {
    check(raw);
    if (!faults_.empty()) return fail(merge_faults(ErrorCode::kHirParse, std::move(faults_)));
    return build(raw);
  }

 private:
  // To tell more helps nobody, and finding a position costs a look at the text before it.
  static constexpr size_t kMaxFaults = 20;

  template <class... A>
  void fault(size_t offset, fmt::format_string<A...> text, A&&... args) {
    if (faults_.size() < kMaxFaults)
      faults_.push_back(fmt::format("{}: {}", in_.position(offset), fmt::format(text, std::forward<A>(args)...)));
  }

  void check(const RawGraph& raw) {
    std::unordered_map<uint32_t, size_t> results;  // number -> how many results
    for (uint32_t i = 0; i < raw.inputs.size(); ++i) results[i] = 1;
    const auto use = [&](const RawValue& v) {
      const auto it = results.find(v.number);
      if (it == results.end())
        fault(v.offset, "value %{} is not defined before its use", v.number);
      else if (v.result >= it->second)
        fault(v.offset, "value %{} has {} results, not {}", v.number, it->second, uint64_t{v.result} + 1);
    };
    for (const RawNode& node : raw.nodes) {
      for (const RawValue& operand : node.operands) use(operand);
      for (const RawGraph& region : node.regions) check(region);
      if (!results.emplace(node.number, node.types.size()).second)
        fault(node.offset, "value %{} is defined twice", node.number);
    }
    for (const RawValue& result : raw.results) use(result);
  }

  Result<GraphPtr> build(const RawGraph& raw) {
    GraphBuilder builder;
    std::unordered_map<uint32_t, ValueId> values;
    for (uint32_t i = 0; i < raw.inputs.size(); ++i) values[i] = builder.input(raw.inputs[i]);
    const auto link = [&](const RawValue& v) { return ValueId{.node = values[v.number].node, .result = v.result}; };
    for (const RawNode& node : raw.nodes) {
      std::vector<ValueId> operands;
      for (const RawValue& v : node.operands) operands.push_back(link(v));
      std::vector<GraphPtr> regions;
      for (const RawGraph& region : node.regions) {
        HR_TRY(auto graph, build(region));
        regions.push_back(std::move(graph));
      }
      builder.set_place(node.place);
      auto added = builder.add(*node.op, std::move(operands), node.attrs, std::move(regions));
      if (!added) return fail(relabel(std::move(added).error(), node));
      const auto& inferred = builder.node(added->node).results;
      if (inferred != node.types)
        return fail(ErrorCode::kHirParse, "{}: {} gives {}, the text says {}", in_.position(node.offset), node.op->name,
                    to_string(inferred.front()), to_string(node.types.front()));
      values[node.number] = *added;
    }
    std::vector<ValueId> results;
    for (const RawValue& v : raw.results) results.push_back(link(v));
    auto graph = std::move(builder).finish(std::move(results));
    if (!graph) return fail(ErrorCode::kHirParse, "{}", graph.error().message);
    return graph;
  }

  [[nodiscard]] Error relabel(Error error, const RawNode& node) const {
    error.code = ErrorCode::kHirParse;
    return std::move(error).in(in_.position(node.offset));
  }

  const TokenStream& in_;
  std::vector<std::string> faults_;
};

Status symbol(TokenStream& in, Module& module) {
  HR_TRY(std::string name, in.word());
  HR_TRY_STATUS(in.expect("["));
  HR_TRY(const int64_t min, in.integer());
  HR_TRY_STATUS(in.expect(","));
  HR_TRY(const int64_t max, in.integer());
  HR_TRY_STATUS(in.expect("]"));
  module.symbols.push_back({.name = std::move(name), .min = min, .max = max});
  return {};
}

Result<uint32_t> index(TokenStream& in) {
  HR_TRY(const uint64_t value, in.unsigned_integer());
  if (value > UINT32_MAX) return in.error("an index beyond 2^32");
  return static_cast<uint32_t>(value);
}

Result<SourceRange> source(TokenStream& in) {
  SourceRange out;
  HR_TRY(out.tensor, in.string());
  HR_TRY(const std::string type, in.string());
  const auto table = block_type_table();
  const auto row = std::find_if(table.begin(), table.end(), [&](const BlockTypeInfo& i) { return i.name == type; });
  if (row == table.end()) return in.error(fmt::format("unknown block type '{}'", type));
  out.type = static_cast<BlockType>(row - table.begin());
  HR_TRY(out.file, index(in));
  HR_TRY(out.offset_bytes, in.unsigned_integer());
  HR_TRY(out.length_bytes, in.unsigned_integer());
  return out;
}

Result<StepKind> step(TokenStream& in) {
  HR_TRY(const std::string name, in.word());
  for (const StepInfo& row : kStepTable)
    if (row.name == name) return row.kind;
  return in.error(fmt::format("unknown recipe step '{}'", name));
}

Status recipe(TokenStream& in, Module& module) {
  HR_TRY(const uint32_t number, index(in));
  if (number != module.recipes.size()) return in.error("recipes are numbered from 0 upwards");
  Recipe out;
  HR_TRY_STATUS(in.expect("{"));
  while (!in.at("}")) {
    HR_TRY(const std::string what, in.word());
    if (what == "source") {
      HR_TRY(auto range, source(in));
      out.sources.push_back(std::move(range));
    } else if (what == "step") {
      HR_TRY(const StepKind kind, step(in));
      out.steps.push_back(kind);
    } else if (what == "output") {
      RecipeOutput output;
      HR_TRY(output.parameter, in.string());
      HR_TRY_STATUS(in.expect(":"));
      HR_TRY(output.type, in.type());
      out.outputs.push_back(std::move(output));
    } else {
      return in.error("expected source, step or output");
    }
  }
  HR_TRY_STATUS(in.advance());
  module.recipes.push_back(std::move(out));
  return {};
}

Status parameter(TokenStream& in, Module& module) {
  Parameter out;
  HR_TRY(out.name, in.string());
  HR_TRY_STATUS(in.expect(":"));
  HR_TRY(out.type, in.type());
  HR_TRY(const std::string role, in.word());
  const auto* const it = std::find(std::begin(kRoleNames), std::end(kRoleNames), role);
  if (it == std::end(kRoleNames)) return in.error(fmt::format("unknown role '{}'", role));
  out.role = static_cast<Role>(it - std::begin(kRoleNames));
  HR_TRY(out.recipe, index(in));
  HR_TRY(out.output, index(in));
  module.parameters.push_back(std::move(out));
  return {};
}

// `(%0 "tokens": i32[1, seq], ...) -> ("logits": f32[1, seq, 8], ...) [state (0 = 1, ...)]`
Result<std::vector<Type>> signature(TokenStream& in, Function& f, RawGraph& raw) {
  HR_TRY_STATUS(in.expect("("));
  while (!in.at(")")) {
    if (!raw.inputs.empty()) HR_TRY_STATUS(in.expect(","));
    if (in.peek().kind != hir::TokenKind::kValue || in.peek().text != std::to_string(raw.inputs.size()))
      return in.error("arguments are numbered from %0 upwards");
    HR_TRY_STATUS(in.advance());
    HR_TRY(auto name, in.string());
    HR_TRY_STATUS(in.expect(":"));
    HR_TRY(auto type, in.type());
    f.arguments.push_back(std::move(name));
    raw.inputs.push_back(std::move(type));
  }
  HR_TRY_STATUS(in.advance());
  HR_TRY_STATUS(in.expect("->"));
  HR_TRY_STATUS(in.expect("("));
  std::vector<Type> results;
  while (!in.at(")")) {
    if (!results.empty()) HR_TRY_STATUS(in.expect(","));
    HR_TRY(auto name, in.string());
    HR_TRY_STATUS(in.expect(":"));
    HR_TRY(auto type, in.type());
    f.results.push_back(std::move(name));
    results.push_back(std::move(type));
  }
  HR_TRY_STATUS(in.advance());
  return results;
}

Status state(TokenStream& in, Function& f) {
  HR_TRY(const bool any, in.accept("state"));
  if (!any) return {};
  HR_TRY_STATUS(in.expect("("));
  while (!in.at(")")) {
    if (!f.state.empty()) HR_TRY_STATUS(in.expect(","));
    StatePair pair;
    HR_TRY(const bool is_new, in.accept("new"));
    pair.argument = StatePair::kNew;
    if (!is_new) {
      HR_TRY(pair.argument, index(in));
    }
    HR_TRY_STATUS(in.expect("="));
    HR_TRY(pair.result, index(in));
    f.state.push_back(pair);
  }
  return in.advance();
}

Status function(TokenStream& in, OpLookup lookup, Module& module) {
  Function f;
  HR_TRY(const std::string visibility, in.word());
  if (visibility != "public" && visibility != "private") return in.error("expected 'public' or 'private'");
  f.visibility = visibility == "public" ? Visibility::kPublic : Visibility::kPrivate;
  HR_TRY(f.name, in.string());
  RawGraph raw;
  HR_TRY(const auto declared, signature(in, f, raw));
  HR_TRY_STATUS(state(in, f));
  HR_TRY_STATUS(hir::parse_body(in, lookup, 0, raw));
  auto graph = Linker(in).link(raw);
  if (!graph) return fail(std::move(graph).error().in(fmt::format("function '{}'", f.name)));
  f.graph = *std::move(graph);
  if (f.graph->result_types() != declared)
    return fail(ErrorCode::kHirParse, "function '{}': the results' types are not those declared", f.name);
  module.functions.push_back(std::move(f));
  return {};
}

}  // namespace

Result<Module> parse_module(std::string_view text, OpLookup lookup) {
  TokenStream in(text);
  HR_TRY_STATUS(in.start());
  HR_TRY_STATUS(in.expect("headrace.module"));
  HR_TRY(const int64_t version, in.integer());
  if (version != 1) return fail(ErrorCode::kHirParse, "module text version {}, this program reads 1", version);
  Module module;
  HR_TRY(module.name, in.string());
  while (in.peek().kind != hir::TokenKind::kEnd) {
    HR_TRY(const std::string what, in.word());
    if (what == "symbol") {
      HR_TRY_STATUS(symbol(in, module));
    } else if (what == "recipe") {
      HR_TRY_STATUS(recipe(in, module));
    } else if (what == "parameter") {
      HR_TRY_STATUS(parameter(in, module));
    } else if (what == "func") {
      HR_TRY_STATUS(function(in, lookup, module));
    } else {
      return in.error(fmt::format("expected symbol, recipe, parameter or func after '{}'", what));
    }
  }
  return module;
}

}  // namespace headrace
