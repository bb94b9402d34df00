#include "passes/unify_constants.h"

#include <cstring>

#include "ir/rewrite.h"
#include "ops/ops.h"

namespace headrace {

namespace {

bool all_equal(const Literal& literal) {
  const std::vector<std::byte>& bytes = *literal.bytes;
  const auto width = static_cast<size_t>(storage_bytes(literal.dtype));
  return bytes.size() >= width && std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
}

Literal scalar_of(const Literal& literal) {
  const auto width = static_cast<ptrdiff_t>(storage_bytes(literal.dtype));
  return {
      .dtype = literal.dtype,
      .sizes = {},
      .splat = true,
      .bytes = std::make_shared<const std::vector<std::byte>>(literal.bytes->begin(), literal.bytes->begin() + width)};
}

Result<std::vector<ValueId>> unify(GraphBuilder& builder, const RewriteSite& site) {
  const Node& node = site.old.nodes()[site.node];
  if (node.op != &ops::kConstant) return std::vector<ValueId>{};
  const auto& literal = std::get<Literal>(node.attrs[0]);
  if ((literal.sizes.empty() && literal.splat) || !all_equal(literal)) return std::vector<ValueId>{};
  HR_TRY(ValueId id, builder.add(ops::kConstant, {}, {scalar_of(literal)}));
  if (!literal.sizes.empty()) {
    HR_TRY(id, builder.add(ops::kBroadcastInDim, {id}, {node.results[0].shape, std::vector<int64_t>{}}));
  }
  return std::vector<ValueId>{id};
}

}  // namespace

Result<Module> unify_constants(const Module& module, const PassOptions&) { return rewrite(module, unify); }

}  // namespace headrace
