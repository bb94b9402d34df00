#include "ir/verify.h"

#include <algorithm>
#include <set>
#include <unordered_map>
#include <unordered_set>

namespace headrace {

namespace {

// Static dims equal; those with symbols grow with each call.
bool same_but_symbolic(const Type& a, const Type& b) {
  return a.dtype == b.dtype &&
         std::equal(a.shape.begin(), a.shape.end(), b.shape.begin(), b.shape.end(),
                    [](const Dim& x, const Dim& y) { return x == y || (!x.is_static() && !y.is_static()); });
}

// Collects faults over one module. `parameter` and `call` are known by name: they are the two ops whose meaning lies
// outside their graph.
class Verifier {
 public:
  explicit Verifier(const Module& module) : module_(module) {}

  Status run() {
    symbols();
    recipes();
    for (const Function& f : module_.functions) function(f);
    recursion();
    if (!faults_.empty()) return fail(merge_faults(ErrorCode::kVerify, std::move(faults_)));
    return {};
  }

 private:
  template <class... A>
  void fault(fmt::format_string<A...> text, A&&... args) {
    if (faults_.size() < kMaxFaults) faults_.push_back(fmt::format(text, std::forward<A>(args)...));
  }

  void symbols() {
    for (const Symbol& s : module_.symbols) {
      if (!symbol_names_.insert(s.name).second) fault("symbol '{}' is declared twice", s.name);
      if (s.min < 0 || s.max < s.min) fault("symbol '{}' has bounds [{}, {}]", s.name, s.min, s.max);
    }
  }

  void recipes() {
    for (const Parameter& p : module_.parameters) {
      if (!parameters_.emplace(p.name, &p).second) fault("parameter '{}' is declared twice", p.name);
      if (!is_static(p.type.shape)) fault("parameter '{}' has the symbolic type {}", p.name, to_string(p.type));
      if (p.recipe >= module_.recipes.size() || p.output >= module_.recipes[p.recipe].outputs.size()) {
        fault("parameter '{}' names output {} of recipe {}, which does not exist", p.name, p.output, p.recipe);
        continue;
      }
      const RecipeOutput& output = module_.recipes[p.recipe].outputs[p.output];
      if (output.parameter != p.name || output.type != p.type)
        fault("parameter '{}' of type {} is tied to a recipe for '{}' of type {}", p.name, to_string(p.type),
              output.parameter, to_string(output.type));
    }
  }

  void function(const Function& f) {
    if (!function_names_.insert(f.name).second) fault("function '{}' is defined twice", f.name);
    if (f.graph == nullptr) return fault("function '{}' has no graph", f.name);
    const Graph& g = *f.graph;
    if (f.arguments.size() != g.inputs())
      fault("function '{}' names {} arguments, its graph has {}", f.name, f.arguments.size(), g.inputs());
    if (f.results.size() != g.results().size())
      fault("function '{}' names {} results, its graph has {}", f.name, f.results.size(), g.results().size());
    unique(f.name, "argument", f.arguments);
    unique(f.name, "result", f.results);
    if (f.visibility == Visibility::kPublic && g.nodes().size() == g.inputs())
      fault("function '{}' computes nothing", f.name);
    std::unordered_set<uint32_t> paired_arguments;
    std::unordered_set<uint32_t> paired_results;
    for (const StatePair& s : f.state) {
      const bool is_new = s.argument == StatePair::kNew;
      const bool fresh = is_new || paired_arguments.insert(s.argument).second;
      if (!paired_results.insert(s.result).second || !fresh)
        fault("function '{}': state pair ({}, {}) shares a side with another", f.name, s.argument, s.result);
      if ((!is_new && s.argument >= g.inputs()) || s.result >= g.results().size())
        fault("function '{}': state pair ({}, {}) is out of range", f.name, s.argument, s.result);
      else if (!is_new && !same_but_symbolic(g.input_types()[s.argument], g.result_types()[s.result]))
        fault("function '{}': state argument {} and its result differ in type", f.name, s.argument);
    }
    graph(f.name, g, 0);
  }

  void unique(const std::string& function, std::string_view what, const std::vector<std::string>& names) {
    std::unordered_set<std::string> seen;
    for (const std::string& n : names)
      if (n.empty() || !seen.insert(n).second)
        fault("function '{}': {} name '{}' is empty or repeated", function, what, n);
  }

  void graph(const std::string& where, const Graph& g, int depth) {
    if (depth > kMaxDepth) return fault("{}: regions nest deeper than {}", where, kMaxDepth);
    if (g.results().empty()) fault("{}: a graph without results", where);
    for (uint32_t i = 0; i < g.nodes().size(); ++i) node(where, g, i, depth);
    for (const ValueId& r : g.results())
      if (r.node >= g.nodes().size() || r.result >= g.nodes()[r.node].results.size())
        fault("{}: a result names no value", where);
  }

  void node(const std::string& where, const Graph& g, uint32_t id, int depth) {
    const Node& n = g.nodes()[id];
    for (const Type& t : n.results)
      for (const Dim& d : t.shape) dim(where, id, d);
    if ((n.op == &kInputOp) != (id < g.inputs())) return fault("{}: node {} is an input out of place", where, id);
    if (n.op == &kInputOp) return;
    std::vector<Type> types;
    for (const ValueId& v : n.operands) {
      if (v.node >= id || v.result >= g.nodes()[v.node].results.size())
        return fault("{}: node {} ({}) uses a value that is not defined before it", where, id, n.op->name);
      types.push_back(g.type(v));
    }
    for (const GraphPtr& region : n.regions) graph(where, *region, depth + 1);
    if (n.op->name == "parameter") parameter_use(where, n);
    if (n.op->name == "call") call(where, n, types);
  }

  void dim(const std::string& where, uint32_t id, const Dim& d) {
    if (d.is_static() && d.value() < 0) fault("{}: node {}: dim {} is negative", where, id, d.value());
    for (const auto& [symbol, coefficient] : d.terms())
      if (!symbol_names_.contains(symbol)) fault("{}: node {}: symbol '{}' is not declared", where, id, symbol);
  }

  void parameter_use(const std::string& where, const Node& n) {
    const auto& wanted = std::get<std::string>(n.attrs[0]);
    const auto it = parameters_.find(wanted);
    if (it == parameters_.end()) return fault("{}: parameter '{}' is not declared", where, wanted);
    if (it->second->type != n.results[0])
      fault("{}: parameter '{}' is used as {}, declared as {}", where, wanted, to_string(n.results[0]),
            to_string(it->second->type));
  }

  void call(const std::string& where, const Node& n, const std::vector<Type>& types) {
    const auto& callee = std::get<std::string>(n.attrs[0]);
    const Function* f = module_.find(callee);
    if (f == nullptr || f->graph == nullptr) return fault("{}: call of '{}', which does not exist", where, callee);
    if (f->graph->input_types() != types || f->graph->result_types() != n.results)
      fault("{}: call of '{}' does not match its signature", where, callee);
    calls_.emplace(where, callee);
  }

  // Calls must form a directed acyclic graph that is not deep: passes and the interpreter follow it by recursion.
  void recursion() {
    for (const Function& f : module_.functions) {
      std::set<std::string> open;
      if (call_height(f.name, open) <= kMaxCalls) continue;
      fault("function '{}' calls itself, directly or through others, or calls nest deeper than {}", f.name, kMaxCalls);
    }
  }

  // Calls on the longest chain from a function; more than kMaxCalls for a cycle or a chain that is longer.
  int call_height(const std::string& name, std::set<std::string>& open) {
    if (const auto known = heights_.find(name); known != heights_.end()) return known->second;
    if (open.size() > kMaxCalls || !open.insert(name).second) return kMaxCalls + 1;
    int height = 0;
    for (auto edge = calls_.lower_bound({name, ""}); edge != calls_.end() && edge->first == name; ++edge)
      height = std::max(height, 1 + call_height(edge->second, open));
    open.erase(name);
    height = std::min(height, kMaxCalls + 1);
    heights_.emplace(name, height);
    return height;
  }

  static constexpr size_t kMaxFaults = 20;
  static constexpr int kMaxCalls = 64;
  static constexpr int kMaxDepth = 32;
  const Module& module_;
  std::vector<std::string> faults_;
  std::set<std::string, std::less<>> symbol_names_;
  std::unordered_set<std::string> function_names_;
  std::unordered_map<std::string, const Parameter*> parameters_;
  std::set<std::pair<std::string, std::string>> calls_;
  std::unordered_map<std::string, int> heights_;
};

}  // namespace

Status verify(const Module& module) { return Verifier(module).run(); }

}  // namespace headrace
