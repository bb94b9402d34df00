#include "ir/module.h"

#include <algorithm>

namespace headrace {

namespace {

bool same(const Function& a, const Function& b) {
  return a.name == b.name && a.visibility == b.visibility && a.arguments == b.arguments && a.results == b.results &&
         a.state == b.state && (a.graph == b.graph || *a.graph == *b.graph);
}

}  // namespace

std::set<std::string> symbols_of(const Function& f) {
  std::set<std::string> out;
  for (const Type& type : f.graph->input_types())
    for (const Dim& dim : type.shape)
      for (const auto& term : dim.terms()) out.insert(term.first);
  return out;
}

const Function* Module::find(std::string_view function) const {
  const auto it =
      std::find_if(functions.begin(), functions.end(), [&](const Function& f) { return f.name == function; });
  return it == functions.end() ? nullptr : &*it;
}

const Parameter* Module::parameter(std::string_view wanted) const {
  const auto it =
      std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& p) { return p.name == wanted; });
  return it == parameters.end() ? nullptr : &*it;
}

bool operator==(const Module& a, const Module& b) {
  return a.name == b.name && a.symbols == b.symbols && a.recipes == b.recipes && a.parameters == b.parameters &&
         std::equal(a.functions.begin(), a.functions.end(), b.functions.begin(), b.functions.end(),
                    [](const Function& x, const Function& y) { return same(x, y); });
}

std::string in_words(const Recipe& recipe) {
  std::string out;
  for (const SourceRange& s : recipe.sources)
    out += fmt::format("{}{} '{}'", out.empty() ? "" : " + ", info(s.type).name, s.tensor);
  if (recipe.sources.empty()) out = "synthetic";
  for (const StepKind step : recipe.steps) out += fmt::format(" -> {}", kStepTable[static_cast<size_t>(step)].name);
  out += " -> ";
  for (size_t i = 0; i < recipe.outputs.size(); ++i) out += (i == 0 ? "" : " + ") + to_string(recipe.outputs[i].type);
  return out;
}

}  // namespace headrace
