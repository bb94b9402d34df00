#include "ops/def.h"

namespace headrace::ops {

std::string operand_list(const HloWriter& w, size_t first, size_t count) {
  std::string out;
  for (size_t i = first; i < first + count; ++i) out += (i == first ? "" : ", ") + w.operand(i);
  return out;
}

std::string operand_list(const HloWriter& w) { return operand_list(w, 0, w.node().operands.size()); }

std::string function_type(const HloWriter& w, size_t count) {
  std::string out = "(";
  for (size_t i = 0; i < count; ++i) out += (i == 0 ? "" : ", ") + w.operand_type(i);
  out += ") -> ";
  const size_t results = w.node().results.size();
  if (results != 1) out += "(";
  for (size_t i = 0; i < results; ++i) out += (i == 0 ? "" : ", ") + w.result_type(i);
  if (results != 1) out += ")";
  return out;
}

std::string function_type(const HloWriter& w) { return function_type(w, w.node().operands.size()); }

void write_same_type(HloWriter& w) {
  w.result(fmt::format("stablehlo.{} {} : {}", w.node().op->name, operand_list(w), w.result_type(0)));
}

void write_functional(HloWriter& w, std::string_view middle) {
  w.result(fmt::format("stablehlo.{} {}{} : {}", w.node().op->name, operand_list(w), middle, function_type(w)));
}

}  // namespace headrace::ops
