// Every op against numpy's and JAX's results: testdata/ops/goldens.json, made by make_goldens.py beside it.
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>

#include "ops/ops_testing.h"

namespace headrace {
namespace {

using nlohmann::json;
using testing::evaluate;
using testing::Ints;
using testing::Tensors;

const json& goldens() {
  static const json data = json::parse(std::ifstream(HEADRACE_TESTDATA "/ops/goldens.json"));
  return data;
}

Literal literal_of(const json& row) {
  const auto hex = row["hex"].get<std::string>();
  std::vector<std::byte> bytes(hex.size() / 2);
  for (size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>(std::stoi(hex.substr(2 * i, 2), nullptr, 16));
  return {.dtype = *parse_dtype(row["dtype"].get<std::string>()),
          .sizes = row["shape"].get<Ints>(),
          .splat = false,
          .bytes = std::make_shared<const std::vector<std::byte>>(std::move(bytes))};
}

std::vector<Literal> literals(const json& numbers) {
  std::vector<Literal> out;
  for (const json& number : numbers) out.push_back(literal_of(goldens()["tensors"][number.get<size_t>()]));
  return out;
}

Attr attr_of(AttrKind kind, const json& value) {
  switch (kind) {
    case AttrKind::kInt:
      return value.get<int64_t>();
    case AttrKind::kFloat:
      return value.get<double>();
    case AttrKind::kString:
      return value.get<std::string>();
    case AttrKind::kInts:
      return value.get<Ints>();
    case AttrKind::kShape: {
      const auto sizes = value.get<Ints>();
      return Shape(sizes.begin(), sizes.end());
    }
    case AttrKind::kDType:
      return *parse_dtype(value.get<std::string>());
    case AttrKind::kLiteral:
    case AttrKind::kTypes:
      break;
  }
  throw std::logic_error("no golden has such an attribute");
}

// Distance from a to the next larger magnitude of the type.
double ulp_of(DType dtype, double a) {
  const int digits = dtype == DType::kF16 ? 11 : dtype == DType::kBF16 ? 8 : dtype == DType::kF32 ? 24 : 53;
  const int least = dtype == DType::kF16 ? -24 : dtype == DType::kBF16 ? -133 : dtype == DType::kF32 ? -149 : -1074;
  if (a == 0) return std::ldexp(1.0, least);
  return std::ldexp(1.0, std::max(std::ilogb(a) - digits + 1, least));
}

struct Tolerance {
  double ulp{}, atol{}, rtol{};
};

// Equal, both NaN, or within the tolerance. Zeros must agree in sign when nothing is tolerated.
bool agrees(DType dtype, double got, double want, const Tolerance& t) {
  if (std::isnan(want)) return std::isnan(got);
  if (got == want) return t.ulp + t.atol + t.rtol > 0 || std::signbit(got) == std::signbit(want);
  if (std::isinf(want) || !std::isfinite(got)) return false;
  return std::abs(got - want) <= t.ulp * ulp_of(dtype, want) + t.atol + t.rtol * std::abs(want);
}

template <class F>
void expect_result(const HostTensor<F>& got, const Literal& want, DType dtype, const Tolerance& tolerance) {
  ASSERT_EQ(got.sizes(), want.sizes);
  for (size_t i = 0; i < static_cast<size_t>(got.elements()); ++i) {
    if (is_float(dtype)) {
      const auto value = static_cast<double>(got.floats()[i]);
      ASSERT_PRED4(agrees, dtype, value, want.at(i), tolerance) << "element " << i;
    } else {
      ASSERT_EQ(got.ints()[i], want.int_at(i)) << "element " << i;
    }
  }
}

std::ostream& operator<<(std::ostream& os, const Tolerance& t) {
  return os << t.ulp << " ulp, " << t.atol << ", " << t.rtol;
}

template <class F>
void run_case(const json& row) {
  const OpDef* op = ops::lookup(row["op"].get<std::string>());
  ASSERT_NE(op, nullptr);
  Tensors<F> operands;
  for (const Literal& literal : literals(row["operands"])) operands.push_back(to_tensor<F>(literal));
  std::vector<Attr> attrs;
  for (const AttrSpec& spec : op->attrs) attrs.push_back(attr_of(spec.kind, row["attrs"][std::string(spec.name)]));
  std::vector<GraphPtr> regions;
  if (row.contains("body"))
    regions.push_back(testing::body_of(*ops::lookup(row["body"].get<std::string>()), Type{operands[0].dtype(), {}}));
  const auto results = evaluate(*op, operands, attrs, regions);
  ASSERT_OK(results);
  const bool has_wide = sizeof(F) == sizeof(double) && row.contains("expected64");
  const Tolerance tolerance =
      has_wide ? Tolerance{0, row["atol64"], row["rtol64"]} : Tolerance{row["ulp"], row["atol"], 0};
  const auto expected = literals(row["expected"]);
  const auto wide = has_wide ? literals(row["expected64"]) : expected;
  ASSERT_EQ(results->size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ((*results)[i].dtype(), expected[i].dtype);
    const bool unrounded = sizeof(F) == sizeof(double) && expected[i].dtype == DType::kF32 && !has_wide;
    // An f32 result computed in f64 is compared with its rounding where no f64 golden exists.
    if (unrounded) {
      HostTensor<F> rounded(DType::kF32, (*results)[i].sizes());
      for (size_t e = 0; e < rounded.floats().size(); ++e)
        rounded.mutable_floats()[e] = static_cast<F>(static_cast<float>((*results)[i].floats()[e]));
      expect_result(rounded, wide[i], expected[i].dtype, tolerance);
    } else {
      expect_result((*results)[i], wide[i], expected[i].dtype, tolerance);
    }
  }
}

bool uses_f64(const json& row) {
  for (const auto& list : {row["operands"], row["expected"]})
    for (const Literal& literal : literals(list))
      if (literal.dtype == DType::kF64) return true;
  return false;
}

std::string title(const json& row) {
  return row["op"].get<std::string>() + " " + row["name"].get<std::string>() + " " + row["attrs"].dump();
}

TEST(OpGoldens, F32) {
  for (const json& row : goldens()["cases"]) {
    if (uses_f64(row)) continue;
    SCOPED_TRACE(title(row));
    run_case<float>(row);
  }
}

TEST(OpGoldens, F64) {
  for (const json& row : goldens()["cases"]) {
    SCOPED_TRACE(title(row));
    run_case<double>(row);
  }
}

// What has no golden is tested elsewhere: leaves and control flow by control_test.cpp.
TEST(OpGoldens, CoverEveryOp) {
  std::set<std::string> covered = {"parameter", "constant", "call", "if", "while", "optimization_barrier"};
  for (const json& row : goldens()["cases"]) covered.insert(row["op"].get<std::string>());
  for (const OpDef* op : ops::all_ops()) EXPECT_TRUE(covered.contains(std::string(op->name))) << op->name;
}

}  // namespace
}  // namespace headrace
