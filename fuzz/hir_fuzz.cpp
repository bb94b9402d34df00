// HIR text: parsed, verified, printed and parsed again; small modules are run on zeros.
#include "interp/interpreter.h"
#include "ir/parse.h"
#include "ir/print.h"
#include "ir/verify.h"
#include "ops/ops.h"
#include "target.h"

namespace {

using headrace::DType;
using headrace::Function;
using headrace::Graph;
using headrace::HostTensor;
using headrace::Module;
using headrace::Parameter;
using headrace::Result;
using headrace::Type;

constexpr int64_t kMaxElements = 2048;  // of one value; a contraction multiplies three of these sides
constexpr size_t kMaxNodes = 200;
constexpr uint64_t kMaxRegionRuns = 300;
constexpr int kTimes = 32;  // a node of 20 characters is 250 bytes as it is parsed, and as many in its graph

std::optional<std::vector<int64_t>> small_sizes(const Type& type, const headrace::SymbolValues& symbols) try {
  std::vector<int64_t> sizes;
  int64_t count = 1;
  for (const headrace::Dim& dim : headrace::substitute(type.shape, symbols)) {
    if (!dim.is_static() || dim.value() < 0 || dim.value() > kMaxElements) return std::nullopt;
    sizes.push_back(dim.value());
    count *= std::max<int64_t>(dim.value(), 1);
    if (count > kMaxElements) return std::nullopt;
  }
  return sizes;
} catch (const headrace::UserError&) {  // a dim overflows
  return std::nullopt;
}

bool is_small(const Graph& graph, const headrace::SymbolValues& symbols, size_t& nodes) {
  for (const headrace::Node& node : graph.nodes()) {
    if (++nodes > kMaxNodes) return false;
    for (const Type& type : node.results)
      if (!small_sizes(type, symbols)) return false;
    for (const auto& region : node.regions)
      if (!is_small(*region, symbols, nodes)) return false;
  }
  return true;
}

class Zeros final : public headrace::ParameterSource<double> {
 public:
  [[nodiscard]] Result<HostTensor<double>> load(const Parameter& parameter) const override {
    const auto sizes = small_sizes(parameter.type, {});
    if (!sizes) return headrace::fail(headrace::ErrorCode::kArchive, "too large");
    return HostTensor<double>(parameter.type.dtype, *sizes);
  }
};

// Every public function once, on zeros, with all symbols at their least value.
void run(const Module& module) {
  headrace::SymbolValues symbols;
  for (const auto& symbol : module.symbols) symbols[symbol.name] = symbol.min;
  size_t nodes = 0;
  for (const Function& f : module.functions)
    if (!is_small(*f.graph, symbols, nodes)) return;
  for (const Function& f : module.functions) {
    if (f.visibility != headrace::Visibility::kPublic) continue;
    std::vector<HostTensor<double>> inputs;
    for (const Type& type : f.graph->input_types()) inputs.emplace_back(type.dtype, *small_sizes(type, symbols));
    static_cast<void>(headrace::interpret<double>(module, f.name, std::move(inputs), Zeros(),
                                                  {.threads = 1, .max_region_runs = kMaxRegionRuns}));
  }
}

}  // namespace

HR_FUZZ_TARGET(hir) {
  using namespace headrace;  // NOLINT(google-build-using-namespace): the whole file is one call
  auto module = [&]() -> std::optional<Module> {
    const fuzz::MemoryBound bound(input.size(), kTimes);
    auto parsed = parse_module(fuzz::text_of(input), ops::lookup);
    if (!parsed || !verify(*parsed)) return std::nullopt;
    return *std::move(parsed);
  }();
  if (!module) return;
  const std::string text = print(*module);
  const auto again = parse_module(text, ops::lookup);
  fuzz::expect(again.has_value(), "the printed module does not parse");
  fuzz::expect(print(*again) == text, "printing is not a fixed point");
  run(*module);
}
