// Adds core ops to a graph with few words; for expansions. Operands come from a verified graph, so a fault here is one
// of ours: it throws UserError with the op's message, which expand() turns into an error of the pass.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "ir/graph.h"
#include "ops/ops.h"

namespace headrace {

class NodeMaker {
 public:
  explicit NodeMaker(GraphBuilder& builder) : builder_(builder) {}

  [[nodiscard]] ValueId make(const OpDef& op, std::vector<ValueId> operands, std::vector<Attr> attrs = {},
                             std::vector<GraphPtr> regions = {});
  [[nodiscard]] const Type& type(ValueId v) const { return builder_.type(v); }

  [[nodiscard]] ValueId scalar(DType dtype, double value);
  [[nodiscard]] ValueId reshape(ValueId x, Shape shape);
  [[nodiscard]] ValueId transpose(ValueId x, std::vector<int64_t> permutation);
  [[nodiscard]] ValueId broadcast(ValueId x, Shape shape, std::vector<int64_t> dims);
  // A scalar with the type of `like`.
  [[nodiscard]] ValueId filled(ValueId like, double value);
  [[nodiscard]] ValueId convert(ValueId x, DType dtype);
  [[nodiscard]] ValueId compare(ValueId a, std::string direction, ValueId b);
  // Reduces `dims` with a binary op.
  [[nodiscard]] ValueId reduce(const OpDef& op, ValueId x, std::vector<int64_t> dims, double start);

 private:
  GraphBuilder& builder_;
};

}  // namespace headrace
