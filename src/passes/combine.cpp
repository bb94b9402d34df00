#include "passes/combine.h"

#include <algorithm>

#include "ir/rewrite.h"
#include "ops/ops.h"

namespace headrace {

namespace {

// Functions and the calls among them, renamed, but for `unchanged`, which calls nothing that is public.
Result<Module> renamed(const Module& module, const std::string& suffix, const std::set<std::string>& unchanged) {
  const RewriteRule rename_call = [&](GraphBuilder& builder, const RewriteSite& site) -> Result<std::vector<ValueId>> {
    std::vector<ValueId> values;
    const Node& node = site.old.nodes()[site.node];
    if (node.op != &ops::kCall) return values;
    std::vector<Attr> attrs = node.attrs;
    attrs[0] = std::get<std::string>(attrs[0]) + suffix;
    HR_TRY(const ValueId first, builder.add(*node.op, {site.operands.begin(), site.operands.end()}, std::move(attrs)));
    for (uint32_t r = 0; r < node.results.size(); ++r) values.push_back({.node = first.node, .result = r});
    return values;
  };
  HR_TRY(Module out, rewrite(module, rename_call));
  for (Function& f : out.functions)
    if (!unchanged.contains(f.name)) f.name += suffix;
  return out;
}

// Emission reads names and types alone: numbers of recipes differ where a part leaves some out.
bool has_all(const std::vector<Parameter>& all, const std::vector<Parameter>& some) {
  return std::all_of(some.begin(), some.end(), [&](const Parameter& wanted) {
    return std::any_of(all.begin(), all.end(),
                       [&](const Parameter& p) { return p.name == wanted.name && p.type == wanted.type; });
  });
}

}  // namespace

std::string specialisation_suffix(const SymbolValues& values) {
  std::string out;
  for (const auto& [symbol, value] : values) out += fmt::format("{}{}", out.empty() ? "." : "x", value);
  return out;
}

std::set<std::string> unchanged_functions(const Module& module, const SymbolValues& values) {
  std::set<std::string> out;
  for (const Function& f : module.functions) {
    if (f.visibility != Visibility::kPublic) continue;
    const auto symbols = symbols_of(f);
    if (std::none_of(symbols.begin(), symbols.end(), [&](const std::string& s) { return values.contains(s); }))
      out.insert(f.name);
  }
  return out;
}

Result<Module> combine(std::span<const Specialised> parts, const std::set<std::string>& unchanged) {
  HR_CHECK(!parts.empty());
  if (parts.size() == 1) return parts[0].module;
  Module out = parts[0].module;
  out.functions.clear();
  for (const Specialised& part : parts) {
    const bool whole = unchanged.empty();  // then every part has every function
    if (!has_all(out.parameters, part.module.parameters) ||
        (whole && out.parameters.size() != part.module.parameters.size()))
      return fail(ErrorCode::kPass, "the specialisation '{}' has other parameters", specialisation_suffix(part.values));
    HR_TRY(Module named, renamed(part.module, specialisation_suffix(part.values), unchanged));
    for (Function& f : named.functions)
      if (&part == &parts.front() || !unchanged.contains(f.name)) out.functions.push_back(std::move(f));
  }
  return out;
}

}  // namespace headrace
