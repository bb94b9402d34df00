#include "passes/expand.h"

#include <algorithm>
#include <optional>

#include "ops/ops.h"
#include "passes/expansions.h"

namespace headrace {

namespace {

// What decides between spellings, read off a site: activations [B, .., S, width] or [S, width].
Rows rows_of(const Type& activations) {
  const auto& shape = activations.shape;
  const auto rows = elements(shape.size() == 2 ? Shape{shape[0]} : Shape{shape[0], shape[shape.size() - 2]});
  if (!rows) return Rows::kSymbolic;
  if (*rows > kFewRows) return Rows::kMany;
  return *rows == 1 ? Rows::kOne : Rows::kFew;
}

std::optional<WeightForm> form_of(const Type& weight) {
  if (weight.dtype == DType::kF32) return WeightForm::kF32;
  if (weight.dtype == DType::kBF16) return WeightForm::kBF16;
  if (weight.dtype == DType::kF16) return WeightForm::kF16;
  return std::nullopt;
}

struct Wanted {
  WeightForm form{};
  Rows rows{};
};

std::optional<Wanted> wanted(const OpDef& op, const Graph& graph, const Node& node) {
  const auto type = [&](size_t i) -> const Type& { return graph.type(node.operands[i]); };
  if (&op == &ops::kAttend) return Wanted{.form = WeightForm::kNone, .rows = rows_of(type(0))};
  const bool linear = &op == &ops::kLinear;
  const auto form = form_of(type(linear ? 1 : 0));
  if (!form) return std::nullopt;
  return Wanted{.form = *form, .rows = rows_of(linear ? type(0) : node.results[0])};
}

Result<std::vector<ValueId>> expand_site(Engine engine, GraphBuilder& builder, const RewriteSite& site) {
  const Node& node = site.old.nodes()[site.node];
  if (node.op->level != OpLevel::kStructured) return std::vector<ValueId>{};
  const auto want = wanted(*node.op, site.old, node);
  const Expansion* chosen = want ? choose_expansion(node.op->name, engine, want->form, want->rows) : nullptr;
  if (chosen == nullptr)
    return fail(ErrorCode::kNoExpansion, "{}: {} of {} has no spelling for {}", site.old.place(site.node),
                node.op->name, to_string(site.old.type(node.operands[node.operands.size() > 1 ? 1 : 0])), name(engine));
  try {
    return chosen->expand(builder, site);
  } catch (const UserError& error) {
    Error copy = error.error;
    return fail(
        std::move(copy).in(fmt::format("{}: {} as {}", site.old.place(site.node), node.op->name, chosen->name)));
  }
}

}  // namespace

std::span<const Expansion> expansion_table() {
  static constexpr Expansion kTable[] = {
#define HR_EXPANSION(op, engine, form, rows, name, function, ratio, measured) \
  {op, Engine::engine, WeightForm::form, Rows::rows, name, function, ratio, measured},
#include "passes/expansions.def"
  };
  return kTable;
}

const Expansion* choose_expansion(std::string_view op, Engine engine, WeightForm form, Rows rows) {
  const Expansion* best = nullptr;
  for (const Expansion& row : expansion_table()) {
    if (row.op != op || row.engine != engine || row.form != form || row.rows != rows) continue;
    if (best == nullptr || row.ratio < best->ratio) best = &row;
  }
  return best;
}

Result<Module> expand(const Module& module, const PassOptions& options) {
  return rewrite(module, [&](GraphBuilder& builder, const RewriteSite& site) {
    return expand_site(options.engine, builder, site);
  });
}

}  // namespace headrace
