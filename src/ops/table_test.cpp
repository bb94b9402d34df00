// Loops over the op table: what every row must have, and docs/ops.md, which is rendered from it (HEADRACE_REBASE=1
// rewrites the file).
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "ops/ops_testing.h"

namespace headrace {
namespace {

using ops::all_ops;

TEST(OpTable, RowsAreComplete) {
  std::set<std::string_view> names;
  for (const OpDef* op : all_ops()) {
    SCOPED_TRACE(std::string(op->name));
    EXPECT_TRUE(names.insert(op->name).second);
    EXPECT_EQ(ops::lookup(op->name), op);
    EXPECT_FALSE(op->summary.empty());
    EXPECT_NE(op->infer, nullptr);
    EXPECT_NE(op->eval_f32, nullptr);
    EXPECT_NE(op->eval_f64, nullptr);
    const bool core = op->level == OpLevel::kCore;
    EXPECT_EQ(op->hlo != nullptr, core && op->name != "parameter");
    const bool in_spec = op->spec == "stablehlo spec.md#" + std::string(op->name);
    const bool in_docs = op->spec == "docs/structured-ops.md#" + std::string(op->name) ||
                         op->spec == "docs/ops.md#" + std::string(op->name);
    EXPECT_TRUE(core ? in_spec || in_docs : in_docs) << op->spec;
    std::set<std::string_view> attrs;
    for (const AttrSpec& attr : op->attrs) EXPECT_TRUE(attrs.insert(attr.name).second) << attr.name;
  }
}

TEST(OpTable, UnknownNamesFindNothing) {
  EXPECT_EQ(ops::lookup("softmax"), nullptr);
  EXPECT_EQ(ops::lookup(""), nullptr);
}

std::string_view word(AttrKind kind) {
  switch (kind) {
    case AttrKind::kInt:
      return "int";
    case AttrKind::kFloat:
      return "float";
    case AttrKind::kString:
      return "string";
    case AttrKind::kInts:
      return "ints";
    case AttrKind::kShape:
      return "shape";
    case AttrKind::kDType:
      return "dtype";
    case AttrKind::kLiteral:
      return "literal";
    case AttrKind::kTypes:
      return "types";
  }
  return "";
}

std::string row(const OpDef& op) {
  std::string attrs;
  for (const AttrSpec& attr : op.attrs)
    attrs += fmt::format("{}`{}` {}", attrs.empty() ? "" : ", ", attr.name, word(attr.kind));
  return fmt::format("| <a id=\"{0}\"></a>`{0}` | {1} | {2} | {3} | {4} | {5} |\n", op.name,
                     op.operands < 0 ? "any" : std::to_string(op.operands), attrs, op.regions, op.summary, op.spec);
}

std::string rendered() {
  std::string out =
      "# Ops\n\n"
      "Rendered from the table in src/ops (`HEADRACE_REBASE=1` and the test `OpTable.Docs` rewrite this file). "
      "[adding-an-op.md](adding-an-op.md) says how a row is made, [structured-ops.md](structured-ops.md) defines the "
      "structured ones. Attributes are written in this order, all of them, always.\n\n"
      "Core ops are StableHLO's and mean what its specification says. Where it leaves a result open, ours is pinned:\n"
      "- integers wrap; x / 0 has all bits set, x rem 0 = x, least / -1 = least; a shift by the width or more gives 0 "
      "(arithmetic: the sign); an integer to a negative power is 0 unless the base is 1 or -1\n"
      "- float to integer truncates and saturates, NaN gives 0\n"
      "- maximum and minimum give NaN if either operand is NaN, and order -0 below +0\n"
      "- sums run one after the other in row-major order; products of narrow floats are summed wide and rounded once\n"
      "- windows and index vectors are moved to fit (as the specification says)\n";
  const auto section = [&](OpLevel level, std::string_view title) {
    out += fmt::format("\n## {}\n\n| op | operands | attributes | regions | what it computes | defined in |\n", title);
    out += "|---|---|---|---|---|---|\n";
    for (const OpDef* op : all_ops())
      if (op->level == level) out += row(*op);
  };
  section(OpLevel::kCore, "Core");
  section(OpLevel::kStructured, "Structured");
  return out;
}

TEST(OpTable, Docs) {
  const std::string path = HEADRACE_TESTDATA "/../docs/ops.md";
  if (std::getenv("HEADRACE_REBASE") != nullptr) std::ofstream(path) << rendered();
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(text.str(), rendered()) << "set HEADRACE_REBASE=1 to rewrite docs/ops.md";
}

}  // namespace
}  // namespace headrace
