// MLIR spellings shared by the emitter's parts.
#pragma once

#include <string>
#include <string_view>

#include "ir/attr.h"
#include "ir/type.h"

namespace headrace::mlir {

// `tensor<1x128x576xf32>`; a symbolic dim is `?`.
[[nodiscard]] std::string type(const Type& t);
// `dense<1.00000000e+00> : tensor<f32>`, `dense<[1, 2]> : tensor<2xi32>`, `dense<0x3C00> : tensor<f16>`: reads back
// bit-equal.
[[nodiscard]] std::string literal(const Literal& value);
// Quoted and escaped as MLIR's lexer wants it.
[[nodiscard]] std::string quoted(std::string_view text);
// `@score`, or `@"blk.0.attn_q.weight"` where a bare identifier is not enough.
[[nodiscard]] std::string symbol(std::string_view name);

}  // namespace headrace::mlir
