#include "passes/combine.h"

#include "ir/rewrite.h"
#include "ops/ops.h"

namespace headrace {

namespace {

// Functions and the calls among them, renamed.
Result<Module> renamed(const Module& module, const std::string& suffix) {
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
  for (Function& f : out.functions) f.name += suffix;
  return out;
}

}  // namespace

std::string specialisation_suffix(const SymbolValues& values) {
  std::string out;
  for (const auto& [symbol, value] : values) out += fmt::format("{}{}", out.empty() ? "." : "x", value);
  return out;
}

Result<Module> combine(std::span<const Specialised> parts) {
  HR_CHECK(!parts.empty());
  if (parts.size() == 1) return parts[0].module;
  Module out = parts[0].module;
  out.functions.clear();
  for (const Specialised& part : parts) {
    if (part.module.parameters != out.parameters || part.module.recipes != out.recipes)
      return fail(ErrorCode::kPass, "the specialisation '{}' has other parameters", specialisation_suffix(part.values));
    HR_TRY(Module named, renamed(part.module, specialisation_suffix(part.values)));
    for (Function& f : named.functions) out.functions.push_back(std::move(f));
  }
  return out;
}

}  // namespace headrace
