#include "stablehlo/extents.h"

#include "stablehlo/text.h"

namespace headrace {

namespace {

std::string constant(std::vector<int64_t> sizes, const std::vector<int64_t>& values) {
  return "stablehlo.constant " + mlir::literal(Literal::of_ints(DType::kI32, std::move(sizes), values));
}

}  // namespace

void Extents::read_symbols(const std::vector<Type>& types, const std::vector<std::string>& names, const Line& line) {
  symbols_.clear();
  known_.clear();
  for (size_t a = 0; a < types.size(); ++a)
    for (size_t d = 0; d < types[a].shape.size(); ++d) {
      const Dim& dim = types[a].shape[d];
      if (dim.terms().size() != 1 || dim.terms()[0].second != 1) continue;
      const std::string& symbol = dim.terms()[0].first;
      if (symbols_.contains(symbol)) continue;
      std::string value = line(fmt::format("stablehlo.get_dimension_size {}, dim = {} : ({}) -> tensor<i32>", names[a],
                                           d, mlir::type(types[a])));
      if (dim.constant() != 0) {
        const std::string offset = line(constant({}, {dim.constant()}));
        value = line(fmt::format("stablehlo.subtract {}, {} : tensor<i32>", value, offset));
      }
      symbols_.emplace(symbol, std::move(value));
    }
}

Result<std::string> Extents::of(const Dim& dim, const Line& line) {
  std::string sum;
  const auto add = [&](const std::string& term) {
    sum = sum.empty() ? term : line(fmt::format("stablehlo.add {}, {} : tensor<i32>", sum, term));
  };
  for (const auto& [symbol, factor] : dim.terms()) {
    const auto known = symbols_.find(symbol);
    if (known == symbols_.end()) return fail(ErrorCode::kEmit, "no argument tells the value of symbol '{}'", symbol);
    if (factor == 1) {
      add(known->second);
    } else {
      const std::string scale = line(constant({}, {factor}));
      add(line(fmt::format("stablehlo.multiply {}, {} : tensor<i32>", known->second, scale)));
    }
  }
  if (dim.constant() != 0) add(line(constant({}, {dim.constant()})));
  return sum;
}

Result<std::string> Extents::of(const Shape& shape, const Line& line) {
  if (const auto known = known_.find(shape); known != known_.end()) return known->second;
  std::vector<std::string> parts;
  std::vector<std::string> part_types;
  std::vector<int64_t> run;  // static dims beside each other are one constant
  const auto end_run = [&] {
    if (run.empty()) return;
    parts.push_back(line(constant({static_cast<int64_t>(run.size())}, run)));
    part_types.push_back(fmt::format("tensor<{}xi32>", run.size()));
    run.clear();
  };
  for (const Dim& dim : shape) {
    if (dim.is_static()) {
      run.push_back(dim.value());
      continue;
    }
    end_run();
    HR_TRY(const std::string value, of(dim, line));
    parts.push_back(line(fmt::format("stablehlo.reshape {} : (tensor<i32>) -> tensor<1xi32>", value)));
    part_types.emplace_back("tensor<1xi32>");
  }
  end_run();
  if (parts.empty()) parts.push_back(line(constant({0}, {})));
  std::string name = parts[0];
  if (parts.size() > 1)
    name = line(fmt::format("stablehlo.concatenate {}, dim = 0 : ({}) -> tensor<{}xi32>", fmt::join(parts, ", "),
                            fmt::join(part_types, ", "), shape.size()));
  known_.emplace(shape, name);
  return name;
}

}  // namespace headrace
