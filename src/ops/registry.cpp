#include <algorithm>

#include "ops/ops.h"

namespace headrace::ops {

namespace {

constexpr const OpDef* kTable[] = {
#define HR_OP(constant) &constant,
#include "ops/ops.def"
};

}  // namespace

std::span<const OpDef* const> all_ops() { return kTable; }

const OpDef* lookup(std::string_view name) {
  const auto* const found = std::ranges::find(kTable, name, &OpDef::name);
  return found == std::end(kTable) ? nullptr : *found;
}

}  // namespace headrace::ops
