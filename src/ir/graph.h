// A graph: an immutable, hash-consed, topologically ordered list of nodes with inputs and results.
//
// - Closed: everything a body uses comes in through its inputs. A region (body of while, if, reduce) is a Graph too,
// and
//   what it captures from outside is passed by the op as explicit operands.
// - Hash-consed: adding a node that exists returns the existing one, so common subexpressions never appear twice.
// - Names and places (module paths) live in a side table and never take part in identity.
// - Shape-only: a graph never holds weight bytes; parameters are nodes with a name and a type.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/op_def.h"

namespace headrace {

struct ValueId {
  uint32_t node{};
  uint32_t result{};
  friend bool operator==(const ValueId&, const ValueId&) = default;
};

struct Node {
  const OpDef* op{};
  std::vector<ValueId> operands;
  std::vector<Attr> attrs;  // as op->attrs lists them
  std::vector<std::shared_ptr<const Graph>> regions;
  std::vector<Type> results;
};

// The op of a graph's inputs: nodes 0 .. inputs()-1 and no others. Its only attribute is the index.
extern const OpDef kInputOp;

class Graph {
 public:
  [[nodiscard]] size_t inputs() const { return inputs_; }
  [[nodiscard]] const std::vector<Node>& nodes() const { return nodes_; }
  [[nodiscard]] const std::vector<ValueId>& results() const { return results_; }
  [[nodiscard]] const Type& type(ValueId value) const { return nodes_[value.node].results[value.result]; }
  [[nodiscard]] std::vector<Type> input_types() const;
  [[nodiscard]] std::vector<Type> result_types() const;
  // The module path that first asked for the node ("blk.3.attn.q"), or "".
  [[nodiscard]] const std::string& place(uint32_t node) const { return *places_[node]; }

  // Structural equality: nodes, inputs and results; places do not count.
  friend bool operator==(const Graph& a, const Graph& b);

 private:
  friend class GraphBuilder;
  size_t inputs_ = 0;
  std::vector<Node> nodes_;
  std::vector<ValueId> results_;
  std::vector<std::shared_ptr<const std::string>>
      places_;  // shared: most nodes have one with others, in other graphs too
};

using GraphPtr = std::shared_ptr<const Graph>;
[[nodiscard]] bool same(const Node& a, const Node& b);
[[nodiscard]] size_t hash(const Node& node);
// Whether a graph or one of its regions has a node of this op.
[[nodiscard]] bool contains(const Graph& graph, const OpDef& op);

// Builds one graph. All inputs come first.
class GraphBuilder {
 public:
  GraphBuilder() { set_place(std::string()); }

  // Makes room for as many nodes.
  void reserve(size_t nodes);

  // Precondition: no other node was added yet.
  ValueId input(Type type);

  // Adds a node, or returns the equal one that exists. Infers result types. Errors: kInfer (the op's own message,
  // prefixed with its name), kVerify (operand out of range, wrong number of operands, attributes or regions; all
  // operands that do not link are listed at once).
  [[nodiscard]] Result<ValueId> add(const OpDef& op, std::vector<ValueId> operands, std::vector<Attr> attrs = {},
                                    std::vector<GraphPtr> regions = {});

  // Adds a node of another graph under new operands and regions. Types are inferred only where those of the operands,
  // or a region, are not what they were. Precondition: the operands are values of this builder. Errors: those of add.
  [[nodiscard]] Result<ValueId> copy(const Graph& from, uint32_t id, std::vector<ValueId> operands,
                                     std::vector<GraphPtr> regions);

  // Finishes. Drops nodes that no result needs (inputs stay). Errors: kVerify for a result out of range or none at all.
  [[nodiscard]] Result<GraphPtr> finish(std::vector<ValueId> results) &&;

  [[nodiscard]] const Type& type(ValueId value) const { return nodes_[value.node].results[value.result]; }
  [[nodiscard]] const Node& node(uint32_t id) const { return nodes_[id]; }
  [[nodiscard]] size_t size() const { return nodes_.size(); }

  // Nodes added from now on carry this place, or that of a node of another graph.
  void set_place(std::string place) { place_ = std::make_shared<const std::string>(std::move(place)); }
  void set_place(const Graph& from, uint32_t node) { place_ = from.places_[node]; }

 private:
  [[nodiscard]] ValueId intern(Node node);
  [[nodiscard]] Status check_links(const OpDef& op, const std::vector<ValueId>& operands,
                                   const std::vector<Attr>& attrs, const std::vector<GraphPtr>& regions) const;

  size_t inputs_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::shared_ptr<const std::string>> places_;
  std::shared_ptr<const std::string> place_;
  std::unordered_multimap<size_t, uint32_t> by_hash_;
};

}  // namespace headrace
