#include "passes/specialise.h"

#include <algorithm>

#include "ir/rewrite.h"

namespace headrace {

namespace {

Type with_values(const Type& type, const SymbolValues& values) {
  return {.dtype = type.dtype, .shape = substitute(type.shape, values)};
}

// Shapes and types among the attributes; the other kinds hold no dims.
Attr with_values(const Attr& attr, const SymbolValues& values) {
  if (const auto* shape = std::get_if<Shape>(&attr)) return substitute(*shape, values);
  if (const auto* types = std::get_if<std::vector<Type>>(&attr)) {
    std::vector<Type> out;
    for (const Type& type : *types) out.push_back(with_values(type, values));
    return out;
  }
  return attr;
}

bool is_symbolic(const Attr& attr) {
  if (const auto* shape = std::get_if<Shape>(&attr)) return !is_static(*shape);
  const auto* types = std::get_if<std::vector<Type>>(&attr);
  return types != nullptr && std::ranges::any_of(*types, [](const Type& type) { return !is_static(type.shape); });
}

Status check(const Module& module, const SymbolValues& values) {
  for (const auto& [name, value] : values) {
    const auto symbol = std::find_if(module.symbols.begin(), module.symbols.end(),
                                     [&, &wanted = name](const Symbol& s) { return s.name == wanted; });
    if (symbol == module.symbols.end()) return fail(ErrorCode::kPass, "the module has no symbol '{}'", name);
    if (value < symbol->min || value > symbol->max)
      return fail(ErrorCode::kPass, "symbol '{}' is {}, expected {} to {}", name, value, symbol->min, symbol->max);
  }
  return {};
}

}  // namespace

Result<Module> specialise(const Module& module, const PassOptions& options) {
  const SymbolValues& values = options.symbols;
  HR_TRY_STATUS(check(module, values));
  const auto retype = [&](const Type& type) { return with_values(type, values); };
  const RewriteRule rule = [&](GraphBuilder& builder, const RewriteSite& site) -> Result<std::vector<ValueId>> {
    const Node& node = site.old.nodes()[site.node];
    if (!node.regions.empty() || std::ranges::none_of(node.attrs, is_symbolic)) return std::vector<ValueId>{};
    std::vector<Attr> attrs;
    for (const Attr& attr : node.attrs) attrs.push_back(with_values(attr, values));
    HR_TRY(const ValueId first, builder.add(*node.op, {site.operands.begin(), site.operands.end()}, std::move(attrs)));
    std::vector<ValueId> out;
    for (uint32_t r = 0; r < node.results.size(); ++r) out.push_back({.node = first.node, .result = r});
    return out;
  };
  try {
    HR_TRY(Module out, rewrite(module, rule, retype));
    std::erase_if(out.symbols, [&](const Symbol& s) { return values.contains(s.name); });
    return out;
  } catch (const UserError& overflow) {  // dim arithmetic
    return fail(ErrorCode::kPass, "{}", overflow.error.message);
  }
}

}  // namespace headrace
