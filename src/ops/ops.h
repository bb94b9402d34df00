// The op table. `ops::kAdd` and so on are the definitions; all_ops() loops over them in the order of ops.def.
#pragma once

#include <span>
#include <string_view>

#include "ir/op_def.h"

namespace headrace::ops {

#define HR_OP(constant) extern const OpDef constant;
#include "ops/ops.def"

[[nodiscard]] std::span<const OpDef* const> all_ops();
// By HIR name; null when there is none. Of type OpLookup.
[[nodiscard]] const OpDef* lookup(std::string_view name);

}  // namespace headrace::ops
