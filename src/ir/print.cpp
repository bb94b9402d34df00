#include "ir/print.h"

#include <bit>
#include <cmath>

namespace headrace {

namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte == 0x7F) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string hex(std::span<const std::byte> bytes) {
  std::string out = "#";
  for (const std::byte b : bytes) out += fmt::format("{:02x}", std::to_integer<unsigned>(b));
  return out;
}

std::string type_of(const Literal& literal) {
  std::string out(name(literal.dtype));
  out += '[';
  for (size_t i = 0; i < literal.sizes.size(); ++i) out += fmt::format("{}{}", i == 0 ? "" : ", ", literal.sizes[i]);
  return out + ']';
}

// The shortest decimal that reads back to the same bits; bytes where there is none (inf, NaN) or f64 detail is at
// stake.
std::string element(const Literal& literal, size_t i) {
  if (!is_float(literal.dtype)) return fmt::format("{}", literal.int_at(i));
  const double value = literal.at(i);
  const auto width = static_cast<size_t>(storage_bytes(literal.dtype));
  if (!std::isfinite(value)) return hex(std::span(*literal.bytes).subspan(i * width, width));
  return literal.dtype == DType::kF64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
}

std::string text(const Literal& literal) {
  constexpr size_t kInline = 16;  // longer ones are for machines
  if (literal.splat) return "splat " + type_of(literal) + " " + element(literal, 0);
  const size_t count = literal.bytes->size() / static_cast<size_t>(storage_bytes(literal.dtype));
  if (count > kInline) return "dense " + type_of(literal) + " " + hex(*literal.bytes);
  std::string out = "dense " + type_of(literal) + " [";
  for (size_t i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + element(literal, i);
  return out + "]";
}

std::string text(const Attr& attr) {
  struct Visitor {
    std::string operator()(int64_t v) const { return fmt::format("{}", v); }
    std::string operator()(double v) const {
      return std::isfinite(v) ? fmt::format("{}", v) : fmt::format("#{:016x}", std::bit_cast<uint64_t>(v));
    }
    std::string operator()(const std::string& v) const { return quoted(v); }
    std::string operator()(const std::vector<int64_t>& v) const { return fmt::format("[{}]", fmt::join(v, ", ")); }
    std::string operator()(const Shape& v) const { return to_string(v); }
    std::string operator()(DType v) const { return std::string(name(v)); }
    std::string operator()(const Literal& v) const { return text(v); }
    std::string operator()(const std::vector<Type>& v) const {
      std::string out = "(";
      for (size_t i = 0; i < v.size(); ++i) out += (i == 0 ? "" : ", ") + to_string(v[i]);
      return out + ")";
    }
  };
  return std::visit(Visitor{}, attr);
}

std::string value(const Graph& graph, ValueId id) {
  return graph.nodes()[id.node].results.size() == 1 ? fmt::format("%{}", id.node)
                                                    : fmt::format("%{}#{}", id.node, id.result);
}

void body(std::string& out, const Graph& graph, const std::string& indent);

void statement(std::string& out, const Graph& graph, uint32_t id, const std::string& indent) {
  const Node& node = graph.nodes()[id];
  out += fmt::format("{}%{} = {}(", indent, id, node.op->name);
  for (size_t i = 0; i < node.operands.size(); ++i) out += (i == 0 ? "" : ", ") + value(graph, node.operands[i]);
  out += ")";
  for (size_t i = 0; i < node.attrs.size(); ++i)
    out += fmt::format("{}{} = {}", i == 0 ? " {" : ", ", node.op->attrs[i].name, text(node.attrs[i]));
  if (!node.attrs.empty()) out += "}";
  for (const GraphPtr& region : node.regions) {
    out += " region (";
    const auto inputs = region->input_types();
    for (size_t i = 0; i < inputs.size(); ++i)
      out += fmt::format("{}%{}: {}", i == 0 ? "" : ", ", i, to_string(inputs[i]));
    out += ") {\n";
    body(out, *region, indent + "  ");
    out += indent + "}";
  }
  out += " : ";
  for (size_t i = 0; i < node.results.size(); ++i) out += (i == 0 ? "" : ", ") + to_string(node.results[i]);
  if (!graph.place(id).empty()) out += " @ " + quoted(graph.place(id));
  out += "\n";
}

void body(std::string& out, const Graph& graph, const std::string& indent) {
  for (auto id = static_cast<uint32_t>(graph.inputs()); id < graph.nodes().size(); ++id)
    statement(out, graph, id, indent);
  out += indent + "return ";
  for (size_t i = 0; i < graph.results().size(); ++i) out += (i == 0 ? "" : ", ") + value(graph, graph.results()[i]);
  out += "\n";
}

void function(std::string& out, const Function& f) {
  out += fmt::format("func {} {}(", f.visibility == Visibility::kPublic ? "public" : "private", quoted(f.name));
  const auto inputs = f.graph->input_types();
  for (size_t i = 0; i < inputs.size(); ++i)
    out += fmt::format("{}%{} {}: {}", i == 0 ? "" : ", ", i, quoted(f.arguments[i]), to_string(inputs[i]));
  out += ") -> (";
  const auto results = f.graph->result_types();
  for (size_t i = 0; i < results.size(); ++i)
    out += fmt::format("{}{}: {}", i == 0 ? "" : ", ", quoted(f.results[i]), to_string(results[i]));
  out += ")";
  for (size_t i = 0; i < f.state.size(); ++i)
    out += fmt::format("{}{} = {}", i == 0 ? " state (" : ", ",
                       f.state[i].argument == StatePair::kNew ? "new" : std::to_string(f.state[i].argument),
                       f.state[i].result);
  if (!f.state.empty()) out += ")";
  out += " {\n";
  body(out, *f.graph, "  ");
  out += "}\n";
}

void recipe(std::string& out, size_t index, const Recipe& r) {
  out += fmt::format("recipe {} {{", index);
  for (const SourceRange& s : r.sources)
    out += fmt::format(" source {} {} {} {} {}", quoted(s.tensor), quoted(info(s.type).name), s.file, s.offset_bytes,
                       s.length_bytes);
  for (const StepKind step : r.steps) out += fmt::format(" step {}", kStepTable[static_cast<size_t>(step)].name);
  for (const RecipeOutput& o : r.outputs) out += fmt::format(" output {}: {}", quoted(o.parameter), to_string(o.type));
  out += " }\n";
}

}  // namespace

std::string print(const Graph& graph) {
  std::string out;
  body(out, graph, "");
  return out;
}

std::string print(const Module& module) {
  std::string out = fmt::format("headrace.module 1 {}\n", quoted(module.name));
  for (const Symbol& s : module.symbols) out += fmt::format("symbol {} [{}, {}]\n", s.name, s.min, s.max);
  for (size_t i = 0; i < module.recipes.size(); ++i) recipe(out, i, module.recipes[i]);
  for (const Parameter& p : module.parameters)
    out +=
        fmt::format("parameter {}: {} {} {} {}\n", quoted(p.name), to_string(p.type), name(p.role), p.recipe, p.output);
  for (const Function& f : module.functions) function(out, f);
  return out;
}

}  // namespace headrace
