#include "passes/dtype.h"

#include <algorithm>
#include <unordered_set>

#include "ir/rewrite.h"
#include "ops/ops.h"

namespace headrace {

namespace {

// Norms, biases, routers, scales and RoPE factors are small, and errors in them reach every value of a row.
bool is_narrowed(Role role) {
  switch (role) {
    case Role::kMatmul:
    case Role::kEmbedding:
      return true;
    case Role::kNorm:
    case Role::kBias:
    case Role::kRouter:
    case Role::kScale:
    case Role::kRopeFactors:
      return false;
  }
  return false;
}

// The same weight from the same sources, as `dtype`. Precondition: the recipe gives f32.
Recipe narrowed(Recipe recipe, DType dtype) {
  const auto all_are = [&](DType wanted) {
    return !recipe.sources.empty() && std::all_of(recipe.sources.begin(), recipe.sources.end(),
                                                  [&](const SourceRange& s) { return info(s.type).plain == wanted; });
  };
  const StepKind round = dtype == DType::kBF16 ? StepKind::kRoundBf16 : StepKind::kRoundF16;
  if (all_are(dtype) && recipe.steps == std::vector{StepKind::kDecode})
    recipe.steps = {StepKind::kCopy};
  else if (all_are(DType::kF32) && recipe.steps == std::vector{StepKind::kCopy})
    recipe.steps = {round};
  else
    recipe.steps.push_back(round);
  recipe.outputs[0].type.dtype = dtype;
  return recipe;
}

using Names = std::unordered_set<std::string>;

// Changes parameters and recipes; returns the names of those that changed.
Names narrow_parameters(Module& module, DType dtype) {
  Names names;
  for (Parameter& p : module.parameters) {
    if (!is_narrowed(p.role) || p.type.dtype != DType::kF32) continue;
    Recipe& recipe = module.recipes[p.recipe];
    if (recipe.outputs.size() != 1) continue;  // a quantising recipe has made its choice
    recipe = narrowed(std::move(recipe), dtype);
    p.type.dtype = dtype;
    names.insert(p.name);
  }
  return names;
}

// What `value` was before the convert that stands for a narrowed parameter; else `value`.
ValueId before_convert(const GraphBuilder& builder, const Names& names, ValueId value) {
  const Node& convert = builder.node(value.node);
  if (convert.op != &ops::kConvert) return value;
  const Node& source = builder.node(convert.operands[0].node);
  const bool is_ours = source.op == &ops::kParameter && names.contains(std::get<std::string>(source.attrs[0]));
  return is_ours ? convert.operands[0] : value;
}

// A narrowed parameter becomes the narrow one and a convert; uses that take the narrow one step over the convert, which
// is dropped where nothing else needs it.
class Rule {
 public:
  Rule(const Names& names, DType dtype) : names_(names), dtype_(dtype) {}

  Result<std::vector<ValueId>> operator()(GraphBuilder& builder, const RewriteSite& site) const {
    const Node& node = site.old.nodes()[site.node];
    std::vector<ValueId> operands(site.operands.begin(), site.operands.end());
    if (node.op == &ops::kParameter) {
      if (!names_.contains(std::get<std::string>(node.attrs[0]))) return std::vector<ValueId>{};
      HR_TRY(const ValueId narrow, builder.add(ops::kParameter, {}, {node.attrs[0], dtype_, node.attrs[2]}));
      return widened(builder, narrow);
    }
    if (node.op == &ops::kLinear) {
      operands[1] = before_convert(builder, names_, operands[1]);
      HR_TRY(const ValueId y, builder.add(ops::kLinear, std::move(operands), node.attrs));
      return std::vector{y};
    }
    if (node.op == &ops::kEmbedding) {
      operands[0] = before_convert(builder, names_, operands[0]);
      HR_TRY(const ValueId rows, builder.add(ops::kEmbedding, std::move(operands), node.attrs));
      if (builder.type(rows).dtype == node.results[0].dtype) return std::vector{rows};
      return widened(builder, rows);
    }
    return std::vector<ValueId>{};
  }

 private:
  static Result<std::vector<ValueId>> widened(GraphBuilder& builder, ValueId narrow) {
    HR_TRY(const ValueId wide, builder.add(ops::kConvert, {narrow}, {DType::kF32}));
    return std::vector{wide};
  }

  const Names& names_;
  DType dtype_;
};

}  // namespace

Result<Module> narrow_weights(const Module& module, const PassOptions& options) {
  const DType dtype = options.weights;
  if (dtype == DType::kF32) return module;
  if (dtype != DType::kBF16 && dtype != DType::kF16)
    return fail(ErrorCode::kPass, "weights cannot be stored as {}, only as f32, bf16 or f16", name(dtype));
  Module out = module;
  const Names names = narrow_parameters(out, dtype);
  return rewrite(out, Rule(names, dtype));
}

}  // namespace headrace
