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
  [[nodiscard]] const std::string& place(uint32_t node) const { return places_[node]; }

  // Structural equality: nodes, inputs and results; places do not count.
  friend bool operator==(const Graph& a, const Graph& b);

 private:
  friend class GraphBuilder;
  size_t inputs_ = 0;
  std::vector<Node> nodes_;
  std::vector<ValueId> results_;
  std::vector<std::string> places_;
};

using GraphPtr = std::shared_ptr<const Graph>;
[[nodiscard]] bool same(const Node& a, const Node& b);
[[nodiscard]] size_t hash(const Node& node);

// Builds one graph. All inputs come first.
class GraphBuilder {
 public:
  // Precondition: no other node was added yet.
  ValueId input(Type type);

  // Adds a node, or returns the equal one that exists. Infers result types. Errors: kInfer (the op's own message,
  // prefixed with its name), kVerify (operand out of range, wrong number of operands, attributes or regions; all
  // operands that do not link are listed at once).
  [[nodiscard]] Result<ValueId> add(const OpDef& op, std::vector<ValueId> operands, std::vector<Attr> attrs = {},
                                    std::vector<GraphPtr> regions = {});

  // Finishes. Drops nodes that no result needs (inputs stay). Errors: kVerify for a result out of range or none at all.
  [[nodiscard]] Result<GraphPtr> finish(std::vector<ValueId> results) &&;

  [[nodiscard]] const Type& type(ValueId value) const { return nodes_[value.node].results[value.result]; }
  [[nodiscard]] const Node& node(uint32_t id) const { return nodes_[id]; }
  [[nodiscard]] size_t size() const { return nodes_.size(); }

  // Nodes added from now on carry this place.
  void set_place(std::string place) { place_ = std::move(place); }

 private:
  [[nodiscard]] Status check_links(const OpDef& op, const std::vector<ValueId>& operands,
                                   const std::vector<Attr>& attrs, const std::vector<GraphPtr>& regions) const;

  size_t inputs_ = 0;
  std::vector<Node> nodes_;
  std::vector<std::string> places_;
  std::string place_;
  std::unordered_multimap<size_t, uint32_t> by_hash_;
};

}  // namespace headrace
