#include "stablehlo/function_writer.h"

#include "ops/hlo_writer.h"
#include "ops/ops.h"
#include "stablehlo/text.h"

namespace headrace {

// One node's view of the function being written.
class NodeWriter final : public HloWriter {
 public:
  NodeWriter(FunctionWriter& function, const Graph& graph, uint32_t id, ValueNames& names, std::string indent)
      : function_(function), graph_(graph), id_(id), names_(names), indent_(std::move(indent)) {}

  [[nodiscard]] const Node& node() const override { return graph_.nodes()[id_]; }
  [[nodiscard]] std::string operand(size_t i) const override {
    const ValueId v = node().operands[i];
    return names_[v.node][v.result];
  }
  [[nodiscard]] std::string operand_type(size_t i) const override { return mlir::type(operand_ir_type(i)); }
  [[nodiscard]] std::string result_type(size_t i) const override { return mlir::type(node().results[i]); }
  [[nodiscard]] const Type& operand_ir_type(size_t i) const override { return graph_.type(node().operands[i]); }
  [[nodiscard]] std::string type(const Type& t) const override { return mlir::type(t); }
  [[nodiscard]] std::string literal(const Literal& value) const override { return mlir::literal(value); }
  [[nodiscard]] std::string callee(std::string_view name) const override { return function_.target_.callee(name); }

  void result(std::string_view text) override {
    const size_t count = node().results.size();
    const std::string name = function_.fresh();
    for (size_t i = 0; i < count; ++i) names_[id_].push_back(count == 1 ? name : fmt::format("{}#{}", name, i));
    line(count == 1 ? name : fmt::format("{}:{}", name, count), text);
  }
  [[nodiscard]] std::string aux(std::string_view text) override {
    std::string name = function_.fresh();
    line(name, text);
    return name;
  }
  [[nodiscard]] std::string region(size_t i, size_t captured, size_t first_capture) override;
  [[nodiscard]] std::string extents(const Shape& shape) override {
    auto name = function_.extents_.of(shape, [this](std::string_view text) { return aux(text); });
    if (name) return *std::move(name);
    keep(std::move(name).error());
    return "%unknown";
  }
  void refuse(std::string_view why) override {
    keep({.code = ErrorCode::kEmit,
          .message =
              fmt::format("{}: {} to {}: {}", graph_.place(id_), node().op->name, to_string(node().results[0]), why)});
  }

 private:
  void keep(Error error) {
    if (function_.status_) function_.status_ = fail(std::move(error));
  }
  void line(std::string_view name, std::string_view text) {
    function_.out_ += fmt::format("{}{} = {}", indent_, name, text);
    if (const std::string& place = graph_.place(id_); !place.empty())
      function_.out_ += fmt::format(" loc({})", mlir::quoted(place));
    function_.out_ += "\n";
  }

  FunctionWriter& function_;
  const Graph& graph_;
  uint32_t id_;
  ValueNames& names_;
  std::string indent_;
};

std::string NodeWriter::region(size_t i, size_t captured, size_t first_capture) {
  const Graph& body = *node().regions[i];
  const auto types = body.input_types();
  std::vector<std::string> inputs;
  std::string header;
  for (size_t k = 0; k < types.size(); ++k) {
    if (k >= captured) {
      inputs.push_back(operand(first_capture + k - captured));
      continue;
    }
    inputs.push_back(function_.fresh());
    header += fmt::format("{}{}: {}", header.empty() ? "" : ", ", inputs.back(), mlir::type(types[k]));
  }
  // The body's lines go into text of their own, to stand inside the op that is still being spelt.
  std::string outer;
  outer.swap(function_.out_);
  auto known = function_.extents_.mark();
  auto results = function_.write_block(body, inputs, indent_ + "  ");
  function_.extents_.reset(std::move(known));
  std::string lines;
  lines.swap(function_.out_);
  function_.out_.swap(outer);
  if (!results) {
    keep(std::move(results).error());
    return "{}";
  }
  std::string result_types;
  for (const Type& t : body.result_types()) result_types += (result_types.empty() ? "" : ", ") + mlir::type(t);
  return fmt::format("{{\n{0}^bb0({1}):\n{2}{0}  stablehlo.return {3} : {4}\n{0}}}", indent_, header, lines,
                     fmt::join(*results, ", "), result_types);
}

Status FunctionWriter::write_node(const Graph& graph, uint32_t id, ValueNames& names, const std::string& indent) {
  const Node& node = graph.nodes()[id];
  for (const Type& t : node.results)
    if (!target_.symbolic && !is_static(t.shape))
      return fail(ErrorCode::kEmit,
                  "{}: {} gives {}, and symbolic dims cannot be written for this target: specialise first",
                  graph.place(id), node.op->name, to_string(t));
  NodeWriter writer(*this, graph, id, names, indent);
  if (node.op == &ops::kParameter) {
    const auto access = target_.parameter(std::get<std::string>(node.attrs[0]));
    if (access.is_value)
      names[id] = {access.text};
    else
      writer.result(access.text);
    return {};
  }
  if (node.op->hlo == nullptr)
    return fail(ErrorCode::kEmit, "{}: {} has no StableHLO form: expand first", graph.place(id), node.op->name);
  node.op->hlo(writer);
  HR_TRY_STATUS(status_);
  HR_CHECK(names[id].size() == node.results.size());
  return {};
}

Result<std::vector<std::string>> FunctionWriter::write(const Graph& graph, const std::vector<std::string>& inputs,
                                                       const std::string& indent) {
  if (target_.symbolic)
    extents_.read_symbols(graph.input_types(), inputs, [&](std::string_view text) {
      std::string name = fresh();
      out_ += fmt::format("{}{} = {}\n", indent, name, text);
      return name;
    });
  return write_block(graph, inputs, indent);
}

Result<std::vector<std::string>> FunctionWriter::write_block(const Graph& graph, const std::vector<std::string>& inputs,
                                                             const std::string& indent) {
  ValueNames names(graph.nodes().size());
  for (size_t i = 0; i < graph.inputs(); ++i) names[i] = {inputs[i]};
  for (auto id = static_cast<uint32_t>(graph.inputs()); id < graph.nodes().size(); ++id)
    HR_TRY_STATUS(write_node(graph, id, names, indent));
  std::vector<std::string> results;
  for (const ValueId& r : graph.results()) results.push_back(names[r.node][r.result]);
  return results;
}

}  // namespace headrace
