// What an op's `hlo` function writes through. The emitter (src/stablehlo) derives from it and knows SSA names, the
// target's spelling of types (a symbolic dim prints as `?`) and indentation.
#pragma once

#include <string>
#include <string_view>

#include "ir/graph.h"

namespace headrace {

class HloWriter {
 public:
  virtual ~HloWriter() = default;
  [[nodiscard]] virtual const Node& node() const = 0;
  [[nodiscard]] virtual std::string operand(size_t i) const = 0;       // SSA name, "%12"
  [[nodiscard]] virtual std::string operand_type(size_t i) const = 0;  // "tensor<1x?x64xf32>"
  [[nodiscard]] virtual std::string result_type(size_t i) const = 0;
  [[nodiscard]] virtual const Type& operand_ir_type(size_t i) const = 0;
  [[nodiscard]] virtual std::string type(const Type& t) const = 0;
  // Writes `%result = <text>` for the node itself. To be called exactly once, last.
  virtual void result(std::string_view text) = 0;
  // Writes an auxiliary line `%aux = <text>` before it and returns its name.
  [[nodiscard]] virtual std::string aux(std::string_view text) = 0;
  // The text of region i as `{ ^bb0(%a: ..): ... }` whose terminator is `stablehlo.return`, indented to stand after an
  // op. The region's inputs from `captured` on are bound to the node's operands from `first_capture` on instead of
  // being block arguments (StableHLO regions capture implicitly; ours do so by explicit operands).
  [[nodiscard]] virtual std::string region(size_t i, size_t captured, size_t first_capture) = 0;
  // A literal as MLIR prints it, exact bits: `dense<1.00000000e+00> : tensor<f32>`, bits where decimal is not exact,
  // including the type.
  [[nodiscard]] virtual std::string literal(const Literal& value) const = 0;
  // The SSA name of a tensor<rank x i32> that holds the shape at run time, from the sizes of the function's arguments.
  // Lines that compute it are written before the op.
  [[nodiscard]] virtual std::string extents(const Shape& shape) = 0;
  // The op has no form for these types on this target: `why` becomes an error. To be called instead of result().
  virtual void refuse(std::string_view why) = 0;
  // `"name"` of a called function or parameter as the target spells it.
  [[nodiscard]] virtual std::string callee(std::string_view function) const = 0;
};

}  // namespace headrace
